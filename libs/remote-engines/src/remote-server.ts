import { MegaNestError } from '#contracts';
import { Agent, fetch, FormData, type RequestInit, type Response } from 'undici';
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

/** The error that stands for an answer which is no success: the caller's fault, too much load, or the engine's. */
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

/** What an engine says about a failure, whatever shape it has. */
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

/** How engines say that a prompt does not fit; most of them have no code for it. */
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

/** What of an engine's refusal tells an overflow. */
interface Refusal {
  message: string;
  code?: unknown;
  type?: unknown;
}

/** The error of a prompt that is too long, in the engine's own words; undefined where it refuses something else. */
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
 * Waits for as long as the signal of a request allows: an engine may think for longer than the five minutes after which
 * fetch gives up a silent connection by itself.
 */
const patientAgent = new Agent({ headersTimeout: 0, bodyTimeout: 0 });
/** Longest wait for an engine where a request has no signal of its own. */
const unwatchedMs = 60_000;

export interface RemoteOptions {
  /** Base URL, with or without a trailing slash. */
  readonly endpoint: string;
  /** Sent as `Authorization: Bearer …`. */
  readonly apiKey?: string;
}

/** What is sent: a GET, or with a body a POST of JSON, or of undici's `FormData` where it is one. */
interface RemoteRequest {
  readonly path: string;
  readonly body?: unknown;
  readonly signal?: AbortSignal;
}

/**
 * An engine in another process, spoken to over HTTP. Errors: service_unavailable (it cannot be reached, or says so),
 * overloaded (429, with retryAfter), invalid_request (it refuses the input), bad_upstream (anything else), cancelled.
 */
export class RemoteServer {
  readonly #base: string;

  constructor(
    /** Whose engine it is, for errors: `llm`. */
    private readonly service: string,
    private readonly options: RemoteOptions,
  ) {
    this.#base = options.endpoint.replace(/\/+$/, '');
  }

  /** Sends the request; an answer that is no success becomes an error. */
  async send({ path, body, signal }: RemoteRequest): Promise<Response> {
    const init = this.#init(body, signal ?? AbortSignal.timeout(unwatchedMs));
    const response = await this.#guard(() => fetch(this.#base + path, init), signal);
    if (response.ok) return response;
    const text = await this.#guard(() => response.text(), signal);
    throw refusalError(response, text, this.service);
  }

  /** Sends the request and validates the JSON of the answer. */
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

  /** Parses JSON of the engine. Errors: bad_upstream. */
  validate<Schema extends z.ZodType>(text: string, schema: Schema): z.output<Schema> {
    const value = parseJson(text);
    if (value === undefined) throw this.unexpected(`its engine sent no JSON: ${text.slice(0, 100)}`);
    const result = schema.safeParse(value);
    if (result.success) return result.data;
    const [issue] = result.error.issues;
    const path = issue?.path.join('.');
    throw this.unexpected(`its engine's answer: ${path ? `${path}: ` : ''}${issue?.message}`);
  }

  unexpected(detail: string, cause?: unknown): MegaNestError {
    return new MegaNestError('bad_upstream', { service: this.service, detail, cause });
  }

  /** Turns what the network throws into our errors. */
  networkError(cause: unknown, signal?: AbortSignal): MegaNestError {
    if (cause instanceof MegaNestError) return cause;
    if (signal?.aborted) return new MegaNestError('cancelled', { cause });
    // Where it is concerns the operator, who finds it in the log, and not the caller.
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
    const { apiKey } = this.options;
    const isForm = body instanceof FormData;
    const headers = {
      ...(apiKey && { authorization: `Bearer ${apiKey}` }),
      ...(body !== undefined && !isForm && { 'content-type': 'application/json' }),
    };
    const common = { headers, signal, dispatcher: patientAgent };
    if (body === undefined) return common;
    return { ...common, method: 'POST', body: isForm ? body : JSON.stringify(body) };
  }
}

/** What happened, without an address: `ECONNREFUSED`. */
function codeOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  if (!(cause instanceof Error)) return 'network error';
  return 'code' in cause && typeof cause.code === 'string' ? cause.code : cause.name;
}

/** Fetch says only "fetch failed"; what happened is in the cause. */
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
