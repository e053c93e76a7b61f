import type { MegaNestError } from '#platform/contracts';

const typesByStatus: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  503: 'overloaded_error',
  504: 'timeout_error',
};

/** The error body of Anthropic's API. `param` and `code` are MegaNest's own. */
export function anthropicError(error: MegaNestError, requestId: string) {
  const { status, message, param, code } = error;
  const type = typesByStatus[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error');
  return { type: 'error' as const, error: { type, message, param, code }, request_id: requestId };
}
