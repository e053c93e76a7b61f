import type { MegaNestError } from '#contracts';
import type { ErrorEvent } from './events.js';

/** The `error` field of a failed response. `context_length_exceeded` keeps its name: Codex acts on it. */
export function responseError({ code, status, message }: MegaNestError): { code: string; message: string } {
  if (code === 'context_length_exceeded') return { code, message };
  if (status === 429) return { code: 'rate_limit_exceeded', message };
  return { code: status < 500 ? 'invalid_prompt' : 'server_error', message };
}

/** The event that precedes `response.failed`. */
export function errorEvent({
  code,
  type,
  message,
  param,
}: MegaNestError): Omit<ErrorEvent, 'sequence_number'> {
  return { type: 'error', code, message, param, error: { type, code, message, param } };
}
