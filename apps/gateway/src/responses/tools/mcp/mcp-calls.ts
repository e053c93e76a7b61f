import { newItemId, type McpCall, type ToolStep } from '#responses';
import type { ToolOutcome } from '../server-tool.js';
import type { McpConnection } from './mcp-connection.js';
import { toMcpFailure } from './mcp-failure.js';
import { outputOf, shownImages } from './mcp-output.js';

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
