const requestError = (status: number, template: string) => ({
  status,
  type: 'invalid_request_error',
  template,
});
const serverError = (status: number, template: string) => ({ status, type: 'server_error', template });

/**
 * The one table of errors: stable code, HTTP status, OpenAI error type and message template.
 * The details of an error replace each `{name}` in its template.
 */
const errorTable = {
  invalid_request: requestError(400, '{detail}'),
  invalid_json: requestError(400, 'The body is not valid JSON: {detail}'),
  unsupported_parameter: requestError(400, '{detail}'),
  mutually_exclusive_parameters: requestError(400, '{detail}'),
  previous_response_not_found: requestError(400, 'The previous response {id} was not found{detail}.'),
  invalid_encrypted_content: requestError(400, '{detail}'),
  context_length_exceeded: requestError(
    400,
    'The input has {tokens} tokens, but {model} takes at most {limit}.',
  ),
  forbidden_url: requestError(400, 'The URL {url} is refused: {detail}'),
  unreachable_url: requestError(400, 'The URL {url} could not be read: {detail}'),
  unsupported_file: requestError(400, 'The file {file} cannot be read: {detail}'),
  websocket_stream_limit_reached: requestError(
    400,
    'A WebSocket can run at most {limit} concurrent streams.',
  ),
  websocket_connection_limit_reached: requestError(
    400,
    'This WebSocket has reached the longest life of a connection. Open a new one to continue.',
  ),
  content_filter: requestError(400, '{detail}'),
  invalid_api_key: { status: 401, type: 'authentication_error', template: 'Incorrect or missing API key.' },
  insufficient_scope: {
    status: 403,
    type: 'permission_error',
    template: 'The API key {key} does not have the scope {scope}, which this needs.',
  },
  forbidden_origin: requestError(
    403,
    'Web pages of {origin} may not use this server. ALLOWED_ORIGINS is the list of origins that may.',
  ),
  forbidden_host: requestError(
    403,
    'This server does not answer under the name {host} without API keys. ALLOWED_HOSTS is the list of its names.',
  ),
  not_found: requestError(404, '{what} was not found.'),
  model_not_found: requestError(404, 'The model {model} does not exist. Available: {available}'),
  method_not_allowed: requestError(405, '{method} is not allowed on {path}.'),
  request_timeout: requestError(408, 'The request did not arrive in time.'),
  conflict: requestError(409, '{detail}'),
  payload_too_large: requestError(413, '{what} is larger than the limit of {limit}.'),
  unsupported_media_type: requestError(415, '{detail}'),
  headers_too_large: requestError(431, 'The headers of the request are larger than this server reads.'),
  rate_limit_exceeded: { status: 429, type: 'rate_limit_error', template: 'Too many requests. {detail}' },
  overloaded: {
    status: 429,
    type: 'rate_limit_error',
    template: 'The {service} service has {detail}. Try again shortly.',
  },
  cancelled: requestError(499, 'The request was cancelled.'),
  internal_error: serverError(500, 'The {service} service failed: {detail}'),
  bad_upstream: serverError(502, 'The {service} service answered something unexpected: {detail}'),
  service_unavailable: serverError(503, 'The {service} service is not available: {detail}'),
  deadline_exceeded: serverError(504, 'The request ran out of time{detail}.'),
};

export type ErrorCode = keyof typeof errorTable;

/** All codes of the table. */
export const errorCodes = Object.keys(errorTable) as ErrorCode[];

/** True for a code of the table. */
export function isErrorCode(code: string | undefined): code is ErrorCode {
  return code !== undefined && Object.hasOwn(errorTable, code);
}

/** An error in a NATS message, and in the body of OpenAI's `{error: …}` envelope (plus its status). */
export interface ErrorBody {
  code: ErrorCode;
  status: number;
  type: string;
  message: string;
  param: string | null;
  /** The service that caused the error, if known. */
  service?: string;
  /** Seconds after which a retry makes sense. */
  retryAfter?: number;
  /** The service has tried again by itself: a mega service does not retry. */
  final?: true;
}

export interface ErrorDetails {
  /** Path of the offending field, e.g. `messages[0].content`. */
  param?: string | null;
  /** Seconds after which a retry makes sense; sent as Retry-After. */
  retryAfter?: number;
  /** Another attempt would not help. */
  final?: true;
  cause?: unknown;
  [placeholder: string]: unknown;
}

/** An error repeats only a part of the request's text: it must never be too large to be sent. */
const maxMessageLength = 1_000;
const maxParamLength = 200;
/** Maximum characters of a name, an address or another value that a caller chooses. */
const maxValueLength = 200;

/** Every error that a caller is meant to see. Anything else becomes `internal_error` at the process border. */
export class MegaNestError extends Error {
  override readonly name = 'MegaNestError';
  readonly status: number;
  readonly type: string;
  readonly param: string | null;
  readonly service?: string;
  readonly retryAfter?: number;
  readonly final?: true;

  constructor(
    readonly code: ErrorCode,
    details: ErrorDetails = {},
  ) {
    const row = errorTable[code];
    super(shortened(fillTemplate(row.template, details), maxMessageLength), { cause: details.cause });
    this.status = row.status;
    this.type = row.type;
    this.param = details.param == null ? null : shortened(details.param, maxParamLength);
    if (typeof details.service === 'string') this.service = details.service;
    this.retryAfter = details.retryAfter;
    if (details.final) this.final = true;
  }

  toBody(): ErrorBody {
    const { code, status, type, message, param, service, retryAfter, final } = this;
    return {
      code,
      status,
      type,
      message,
      param,
      ...(service && { service }),
      ...(retryAfter && { retryAfter }),
      ...(final && { final }),
    };
  }

  /** Rebuilds an error from a message; its text stays as the sender wrote it. */
  static fromBody(body: Omit<ErrorBody, 'code'> & { code: string }): MegaNestError {
    const code = isErrorCode(body.code) ? body.code : 'internal_error';
    const error = new MegaNestError(code, {
      param: body.param,
      service: body.service ?? 'remote',
      retryAfter: body.retryAfter,
      final: body.final,
      detail: '',
    });
    error.message = shortened(body.message, maxMessageLength);
    return error;
  }

  /** Wraps anything thrown; the cause's message stays visible, never a bare "Internal server error". */
  static from(thrown: unknown, service: string): MegaNestError {
    if (thrown instanceof MegaNestError) return thrown;
    const detail = thrown instanceof Error ? thrown.message : String(thrown);
    return new MegaNestError('internal_error', { service, detail, cause: thrown });
  }
}

/** The whole seconds of an error's Retry-After. Each 503 and 429 has one. */
export function retrySeconds({ status, retryAfter = 0 }: Pick<MegaNestError, 'status' | 'retryAfter'>) {
  if (retryAfter > 0) return Math.ceil(retryAfter);
  return status === 503 || status === 429 ? 1 : undefined;
}

/** The 400 error for one field of a request. `param` is the field's path, `reason` follows it in the message. */
export function invalidField(param: string, reason: string): MegaNestError {
  return new MegaNestError('invalid_request', { detail: `${param}: ${reason}`, param });
}

/** The 400 error for an unsupported field of a request. `reason` follows the field's path in the message. */
export function unsupportedField(param: string, reason: string): MegaNestError {
  return new MegaNestError('unsupported_parameter', { detail: `${param}: ${reason}`, param });
}

function shortened(text: string, limit: number): string {
  return text.length > limit ? `${text.slice(0, limit)}…` : text;
}

function fillTemplate(template: string, details: ErrorDetails): string {
  return template.replaceAll(/\{(\w+)\}/g, (_match, name: string) => {
    const value = details[name];
    if (typeof value !== 'string' && typeof value !== 'number') return '';
    const ours = name === 'detail' || name === 'available';
    return shortened(String(value), ours ? maxMessageLength : maxValueLength);
  });
}
