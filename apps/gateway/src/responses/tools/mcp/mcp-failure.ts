import type { McpError } from '#responses';
import { McpError as ProtocolError } from '@modelcontextprotocol/sdk/types.js';

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
