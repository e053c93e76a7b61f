import { MegaNestError } from '#platform/contracts';
import { Agent, type Dispatcher, fetch, FormData, type RequestInit, type Response } from 'undici';
import { z } from 'zod';

/** OpenAI's `{error: {message, param, code}}`, TEI's and TGI's `{error, error_type}`, FastAPI's `{detail}`. */
const refusalSchema = z.looseObject({
  error: z
    .union([
      z.string().transform((message) => ({ message, param: undefined, code: undefined, type: undefined })),
      z.looseObject({
        message: z.string(),
        param: z.string().nullish(),
        code: z.unknown().optional(),
        type: z.unknown().optional(),
      }),
    ])
    .optional(),
  message: z.string().optional(),
  detail: z.unknown().optional(),
});

/** Returns the error for an unsuccessful answer: a fault of the caller, too much load, or a fault of the engine. */
function refusalError(
  { status, headers }: Pick<Response, 'status' | 'headers'>,
  text: string,
  service: string,
): MegaNestError {
  const refusal = readRefusal(text);
  const { message, param } = refusal;
  const overflow = status < 500 ? overflowError(refusal, service) : undefined;
  if (overflow) return overflow;
  if (status === 400 || status === 413 || status === 422)
    return new MegaNestError('invalid_request', { detail: message, param });
  if (status === 429) {
    const retryAfter = Number(headers.get('retry-after')) || 1;
    return new MegaNestError('overloaded', { service, detail: `a busy engine (${message})`, retryAfter });
  }
  const detail = `its engine answered ${status}: ${message}`;
  const unavailable = status === 502 || status === 503 || status === 504;
  return new MegaNestError(unavailable ? 'service_unavailable' : 'bad_upstream', { service, detail });
}

/** Reads the reason of a failure from the answer, in any of the known shapes. */
export function readRefusal(text: string): Refusal & { param: string | null } {
  const { error, message, detail } = refusalSchema.safeParse(parseJson(text)).data ?? {};
  const said = error?.message ?? message ?? (typeof detail === 'string' ? detail : undefined);
  return {
    message: said ?? (text.trim().slice(0, 200) || 'no reason given'),
    param: error?.param ?? null,
    code: error?.code,
    type: error?.type,
  };
}

/** Messages of engines for a prompt that is too long; most engines have no error code for it. */
const sayings: readonly RegExp[] = [
  // OpenAI, vLLM, SGLang, OpenRouter, DeepSeek, Mistral.
  /maximum context length/i,
  /longer than the (model'?s|maximum) (context|model) length/i,
  /(exceeds?|exceeded|greater than|overflows?) .{0,60}context (length|size|window)/i,
  /context (length|size|window) .{0,40}(exceed|overflow)/i,
  // LM Studio.
  /context the overflows|loaded with context length of only/i,
  // TGI.
  /`?inputs`? (tokens \+ `?max_new_tokens`? must be <=|must have less than) \d+/i,
  // OpenVINO Model Server, Gemini, Anthropic, MegaNest.
  /prompt tokens:? \d+ exceeds/i,
  /input token count .{0,40}exceeds the maximum/i,
  /prompt is too long: \d+ tokens/i,
  /The input has \d+ tokens, but .{1,200} takes at most \d+/,
];

const codes: ReadonlySet<unknown> = new Set(['context_length_exceeded', 'exceed_context_size_error']);

/** Fields of an engine's error that identify a prompt that is too long. */
interface Refusal {
  message: string;
  code?: unknown;
  type?: unknown;
}

/** Returns the error for a prompt that is too long, with the engine's message; undefined for other refusals. */
export function overflowError({ message, code, type }: Refusal, service: string): MegaNestError | undefined {
  const isOverflow =
    codes.has(code) || codes.has(type) || sayings.some((saying) => saying.test(message.slice(0, 2_000)));
  if (!isOverflow) return undefined;
  const { type: ours, status } = new MegaNestError('context_length_exceeded');
  return MegaNestError.fromBody({
    code: 'context_length_exceeded',
    status,
    type: ours,
    message,
    param: service === 'llm' ? 'messages' : null,
  });
}

/**
 * Turns off fetch's own timeouts, because an engine may be silent for more than their five minutes. The signal of a
 * request limits the time instead.
 */
const patientAgent = new Agent({ headersTimeout: 0, bodyTimeout: 0 });
/** Timeout of requests without a signal. */
const unwatchedMs = 60_000;

export interface RemoteOptions {
  /** Base URL, with or without a trailing slash. */
  readonly endpoint: string;
  /** Key for the header `Authorization: Bearer …`. */
  readonly apiKey?: string;
  /** Connects to the engine. It must not limit the time of an answer. Default: connects to any address. */
  readonly dispatcher?: Dispatcher;
}

/** A GET request, or with a body a POST request: JSON, or multipart for undici's `FormData`. */
interface RemoteRequest {
  readonly path: string;
  readonly body?: unknown;
  readonly signal?: AbortSignal;
}

/**
 * A client of an engine's HTTP API. Errors: service_unavailable (the engine is unreachable, or reports it),
 * overloaded (429, with retryAfter), invalid_request (it refuses the input), bad_upstream (other failures), cancelled.
 */
export class RemoteServer {
  readonly #base: string;

  constructor(
    /** Service that uses the engine, for error messages, e.g. `llm`. */
    private readonly service: string,
    private readonly options: RemoteOptions,
  ) {
    this.#base = options.endpoint.replace(/\/+$/, '');
  }

  /** Sends the request. Throws for an unsuccessful answer. */
  async send({ path, body, signal }: RemoteRequest): Promise<Response> {
    const init = this.#init(body, signal ?? AbortSignal.timeout(unwatchedMs));
    const response = await this.#guard(() => fetch(this.#base + path, init), signal);
    if (response.ok) return response;
    const text = await this.#guard(() => response.text(), signal);
    throw refusalError(response, text, this.service);
  }

  /** Sends the request and validates the JSON answer. */
  async json<Schema extends z.ZodType>(request: RemoteRequest, schema: Schema): Promise<z.output<Schema>> {
    return this.parse(await this.send(request), schema, request.signal);
  }

  async parse<Schema extends z.ZodType>(
    response: Response,
    schema: Schema,
    signal?: AbortSignal,
  ): Promise<z.output<Schema>> {
    const text = await this.#guard(() => response.text(), signal);
    return this.validate(text, schema);
  }

  /** Parses and validates JSON of the engine. Errors: bad_upstream. */
  validate<Schema extends z.ZodType>(text: string, schema: Schema): z.output<Schema> {
    const value = parseJson(text);
    if (value === undefined) throw this.unexpected(`its engine sent invalid JSON: ${text.slice(0, 100)}`);
    const result = schema.safeParse(value);
    if (result.success) return result.data;
    const [issue] = result.error.issues;
    const path = issue?.path.join('.');
    throw this.unexpected(`its engine's answer: ${path ? `${path}: ` : ''}${issue?.message}`);
  }

  unexpected(detail: string, cause?: unknown): MegaNestError {
    return new MegaNestError('bad_upstream', { service: this.service, detail, cause });
  }

  /** The error for a whole answer that cannot be used: it costs a generation, so that a mega service does not retry. */
  unusable(detail: string): MegaNestError {
    return new MegaNestError('bad_upstream', { service: this.service, detail, final: true });
  }

  /** Converts a network error to a MegaNestError. */
  networkError(cause: unknown, signal?: AbortSignal): MegaNestError {
    if (cause instanceof MegaNestError) return cause;
    if (signal?.aborted) return new MegaNestError('cancelled', { cause });
    // The address is for the operator, in the log; the caller does not see it.
    const detail = `its engine cannot be reached (${codeOf(cause)})`;
    const logged = new Error(`${this.#base}: ${reasonOf(cause)}`, { cause });
    return new MegaNestError('service_unavailable', { service: this.service, detail, cause: logged });
  }

  async #guard<Result>(work: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      throw this.networkError(error, signal);
    }
  }

  #init(body: unknown, signal: AbortSignal): RequestInit {
    const { apiKey, dispatcher = patientAgent } = this.options;
    const isForm = body instanceof FormData;
    const headers = {
      ...(apiKey && { authorization: `Bearer ${apiKey}` }),
      ...(body !== undefined && !isForm && { 'content-type': 'application/json' }),
    };
    const common = { headers, signal, dispatcher };
    if (body === undefined) return common;
    return { ...common, method: 'POST', body: isForm ? body : JSON.stringify(body, wellFormed) };
  }
}

/** For `JSON.stringify`: replaces unpaired surrogates in texts, because engines in Python fail to encode them. */
export function wellFormed(_name: string, value: unknown): unknown {
  return typeof value === 'string' ? value.toWellFormed() : value;
}

/** Returns the code of an error, without an address, e.g. `ECONNREFUSED`. */
function codeOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  if (!(cause instanceof Error)) return 'network error';
  return 'code' in cause && typeof cause.code === 'string' ? cause.code : cause.name;
}

/** Returns the message of the cause, because fetch itself reports only "fetch failed". */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  if (!(cause instanceof Error)) return error.message;
  return cause.message || ('code' in cause ? String(cause.code) : cause.name);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
