import type { ChatMessage } from '#platform/contracts';
import { newItemId, type McpCall, type McpError, type ToolStep } from '#api/responses';
import { McpError as ProtocolError, type CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { imageTypeOf } from '../../../input-files/input-files.js';
import type { ToolOutcome } from '../server-tool.js';
import type { McpConnection } from './mcp-connection.js';

/** A call to make on a server. */
export interface WantedCall {
  name: string;
  /** JSON as the model wrote it. */
  input: string;
  /** Id of the approval request that the caller approved. */
  approvalRequestId?: string;
}

export interface McpServer {
  label: string;
  connection: McpConnection;
  /** Aborts when the response ends. */
  signal: AbortSignal;
}

/** The result for the model: text, and images for models that accept images. */
export type McpResult = Required<Pick<ToolOutcome, 'images'>> & { output: string };

/**
 * Makes a call, shows it as an item, and returns the result for the model. A failure is part of the item and of the
 * result. Errors: the abort reason of the signal.
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
    const message = 'The arguments are not a JSON object.';
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

/** Limit for the characters of a result for the model. */
const maxOutputLength = 100_000;

/** The result of a call as text. A part that is not text is replaced by a note about its type. */
export function outputOf({ content, structuredContent }: CallToolResult): string {
  const parts = content.map(partText).filter((text) => text !== '');
  if (parts.length === 0 && structuredContent !== undefined) parts.push(JSON.stringify(structuredContent));
  const text = parts.join('\n');
  return text.length > maxOutputLength
    ? `${text.slice(0, maxOutputLength)}\n[cut: ${text.length} characters]`
    : text;
}

/** Limits for the images of one result, and for the base64 characters of each. */
const maxImages = 4;
const maxImageLength = 6 * 1024 * 1024;

type ChatImages = NonNullable<ChatMessage['images']>;

/** The first images of a result that are a PNG, JPEG, GIF or WebP within the limits. */
export function shownImages({ content }: CallToolResult): ChatImages {
  const images = content.flatMap((part): ChatImages => {
    if (part.type !== 'image' || part.data.length > maxImageLength) return [];
    const type = knownType(part.data);
    return type === undefined ? [] : [{ url: `data:${type};base64,${part.data}` }];
  });
  return images.slice(0, maxImages);
}

/** The media type by the content, because a server may declare a wrong one. */
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

/** HTTP status where the server sent no answer. */
const noAnswer = 502;

/** An error of the connection or of the server, in the form of a response's item. */
export function toMcpFailure(thrown: unknown): McpError & { message: string } {
  if (thrown instanceof ProtocolError)
    return { type: 'mcp_protocol_error', code: thrown.code, message: thrown.message };
  const { code, message } = thrown as { code?: unknown; message?: unknown };
  const status = typeof code === 'number' ? code : noAnswer;
  return { type: 'http_error', code: status, message: `${String(message)}${causeOf(thrown)}` };
}

/** The cause of an error: the message `fetch failed` alone gives no reason. */
function causeOf(thrown: unknown): string {
  const { cause } = thrown as { cause?: unknown };
  return cause instanceof Error && cause.message !== '' ? `: ${cause.message}` : '';
}
