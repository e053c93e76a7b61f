import type { ChatMessage } from '#contracts';
import { newItemId, type McpCall, type McpError, type ToolStep } from '#responses';
import { McpError as ProtocolError, type CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { imageTypeOf } from '../../../input-files/input-files.js';
import type { ToolOutcome } from '../server-tool.js';
import type { McpConnection } from './mcp-connection.js';

/** A call that is to be made on a server. */
export interface WantedCall {
  name: string;
  /** JSON as the model wrote it. */
  input: string;
  /** The request that the caller consented to. */
  approvalRequestId?: string;
}

export interface McpServer {
  label: string;
  connection: McpConnection;
  /** Ends with the response. */
  signal: AbortSignal;
}

/** What the model is told, and shown where it sees. */
export type McpResult = Required<Pick<ToolOutcome, 'images'>> & { output: string };

/**
 * Makes a call and shows it as an item; returns what the model is told. What goes wrong is part of the item and of what
 * the model is told. Errors: whatever the signal was aborted with.
 */
export async function* runMcpCall(
  { label, connection, signal }: McpServer,
  { name, input, approvalRequestId }: WantedCall,
): AsyncGenerator<ToolStep, McpResult, void> {
  const item: McpCall = {
    id: newItemId('mcp_call'),
    type: 'mcp_call',
    status: 'in_progress',
    server_label: label,
    name,
    arguments: '',
    output: null,
    error: null,
    approval_request_id: approvalRequestId ?? null,
  };
  const { id } = item;
  yield { type: 'item_added', item };
  yield { type: 'item_progress', id, phase: 'in_progress' };
  yield { type: 'item_arguments', id, arguments: input };
  const { output, error, images } = await attempt(connection, name, input, signal);
  const failed = error !== null;
  yield { type: 'item_progress', id, phase: failed ? 'failed' : 'completed' };
  const status = failed ? 'failed' : 'completed';
  yield {
    type: 'item_done',
    item: { ...item, status, arguments: input, output: failed ? null : output, error },
  };
  return { output, images };
}

async function attempt(
  connection: McpConnection,
  name: string,
  input: string,
  signal: AbortSignal,
): Promise<McpResult & { error: McpCall['error'] }> {
  const given = argumentsOf(input);
  if (!given) {
    const message = 'The arguments are no JSON object.';
    return { output: message, images: [], error: { type: 'mcp_protocol_error', code: -32_602, message } };
  }
  try {
    const result = await connection.callTool(name, given, signal);
    const output = outputOf(result);
    if (result.isError !== true) return { output, images: shownImages(result), error: null };
    return {
      output: `The tool failed: ${output}`,
      images: [],
      error: { type: 'mcp_tool_execution_error', content: result.content },
    };
  } catch (thrown) {
    if (signal.aborted) throw thrown;
    const error = toMcpFailure(thrown);
    return { output: `The tool could not be called: ${error.message}`, images: [], error };
  }
}

function argumentsOf(input: string): Record<string, unknown> | undefined {
  try {
    const value = JSON.parse(input.trim() === '' ? '{}' : input) as unknown;
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/** Characters of a result that the model is told. */
const longestOutput = 100_000;

/** The result of a call as text: what is no text is named. */
export function outputOf({ content, structuredContent }: CallToolResult): string {
  const parts = content.map(partText).filter((text) => text !== '');
  if (parts.length === 0 && structuredContent !== undefined) parts.push(JSON.stringify(structuredContent));
  const text = parts.join('\n');
  return text.length > longestOutput
    ? `${text.slice(0, longestOutput)}\n[cut: ${text.length} characters]`
    : text;
}

/** Images of one result that a model is shown, and characters of base64 of each. */
const mostImages = 4;
const longestImage = 6 * 1024 * 1024;

type ChatImages = NonNullable<ChatMessage['images']>;

/** The images of a result that a model can be shown: the first of those that are a PNG, JPEG, GIF or WebP of a bearable size. */
export function shownImages({ content }: CallToolResult): ChatImages {
  const images = content.flatMap((part): ChatImages => {
    if (part.type !== 'image' || part.data.length > longestImage) return [];
    const type = knownType(part.data);
    return type === undefined ? [] : [{ url: `data:${type};base64,${part.data}` }];
  });
  return images.slice(0, mostImages);
}

/** By the content: what a server calls it is no help to the engine. */
function knownType(data: string): string | undefined {
  try {
    return imageTypeOf(Buffer.from(data, 'base64'), 'image');
  } catch {
    return undefined;
  }
}

function partText(part: CallToolResult['content'][number]): string {
  switch (part.type) {
    case 'text':
      return part.text;
    case 'image':
    case 'audio':
      return `[${part.type}: ${part.mimeType}]`;
    case 'resource_link':
      return `[resource: ${part.name} ${part.uri}]`;
    default:
      return 'text' in part.resource ? part.resource.text : `[resource: ${part.resource.uri}]`;
  }
}

/** Status where no answer came at all. */
const noAnswer = 502;

/** What went wrong on the way to a server or on it, as an item of a response says it. */
export function toMcpFailure(thrown: unknown): McpError & { message: string } {
  if (thrown instanceof ProtocolError)
    return { type: 'mcp_protocol_error', code: thrown.code, message: thrown.message };
  const { code, message } = thrown as { code?: unknown; message?: unknown };
  const status = typeof code === 'number' ? code : noAnswer;
  return { type: 'http_error', code: status, message: `${String(message)}${causeOf(thrown)}` };
}

/** `fetch failed` says nothing; its cause does. */
function causeOf(thrown: unknown): string {
  const { cause } = thrown as { cause?: unknown };
  return cause instanceof Error && cause.message !== '' ? `: ${cause.message}` : '';
}
