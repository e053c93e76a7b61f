import { assertJsonBounds, isErrorCode, MegaNestError, messageBounds } from '#platform/contracts';
import { headers, type Msg, type MsgHdrs } from '@nats-io/transport-node';
import { z } from 'zod';

/**
 * The format of calls on the wire. A request is JSON to `meganest.<service>.<method>`. The answer is JSON on the reply
 * subject; a stream is several such messages and an empty one with `Meganest-Stream: end`. A body that is larger than a
 * message is split into several messages with `Meganest-Part`. While a call runs, the service sends
 * `Meganest-Stream: alive` with the name of its instance every second, so that its death is noticed. Errors have NATS's
 * own service error headers (ADR-32) and the error as JSON.
 */
export const header = {
  requestId: 'Meganest-Request-Id',
  /** Remaining milliseconds; a duration, so that clocks do not have to agree. */
  timeout: 'Meganest-Timeout-Ms',
  /** Milliseconds by which each reply of a stream extends the call; absent if the timeout is for the whole call. */
  idle: 'Meganest-Idle-Ms',
  callId: 'Meganest-Call-Id',
  traceparent: 'traceparent',
  /** On a request: `bulk` for work in the background; absent if a user waits for it. */
  priority: 'Meganest-Priority',
  /** The client whose request caused the call, so that services share their work between clients. */
  client: 'Meganest-Client',
  /** On a request: the model that it is for. An instance of several models answers with this one, if it serves it. */
  model: 'Meganest-Model',
  stream: 'Meganest-Stream',
  /** On a request: the caller can join replies from parts. */
  accept: 'Meganest-Accept',
  /**
   * On a request whose body follows: its size in bytes. The instance with the call asks for it with `Meganest-Stream:
   * send`.
   */
  body: 'Meganest-Body',
  /** On a part of a body: `more`, or on the last part the total bytes. */
  part: 'Meganest-Part',
  /** On heartbeats: the instance that runs the call. */
  instance: 'Meganest-Instance',
  /**
   * On an instance's answer with its name: its running calls, with calls that wait in its engine counted twice; `none`
   * if it does not take further calls. A caller may then send calls to this instance by name.
   */
  load: 'Meganest-Load',
  /** On the same answer: the number of its running calls that are bulk work. */
  bulk: 'Meganest-Bulk',
  /** On the same answer: the names of the models that the instance serves, as a JSON array, if calls name models. */
  models: 'Meganest-Models',
  /** On the end message: the number of messages of the stream, to detect lost ones. */
  count: 'Meganest-Count',
  errorCode: 'Nats-Service-Error-Code',
  error: 'Nats-Service-Error',
} as const;

export const heartbeatMs = 1_000;
/** A call that runs for this time gets its first heartbeat at the next check, within the same time again. */
export const firstHeartbeatMs = 200;
/** Interval at which callers check their calls; for a silent call they ask the service. */
export const checkMs = 250;
/** Silence after which a service counts as dead. */
export const silenceMs = 5_000;

const cancelPrefix = 'meganest.cancel';
export const allCancellations = `${cancelPrefix}.*`;

/** A message on this subject stops the call; repeated "no responders" answers of NATS to heartbeats stop it too. */
export function cancelSubject(callId: string): string {
  return `${cancelPrefix}.${callId}`;
}

/**
 * The subject on which an instance listens while it is connected. Without an instance: the subject on which all
 * instances of a service answer with their names.
 */
export function aliveSubject(service: string, instance?: string): string {
  return instance === undefined ? `meganest.alive.${service}` : `meganest.alive.${service}.${instance}`;
}

/** The subject on which one instance takes calls of a method, in addition to the queue group of its service. */
export function instanceSubject(subject: string, instance: string): string {
  return `${subject}.${instance}`;
}

/** The subject on which an instance receives the parts of one body that is too large for a message. */
export function bodySubject(service: string, token: string): string {
  return `meganest.body.${service}.${token}`;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export function encodeJson(value: unknown): Uint8Array {
  return encoder.encode(JSON.stringify(value));
}

export function decodeJson(data: Uint8Array): unknown {
  return JSON.parse(decoder.decode(data));
}

/** Reads the body of a request. Errors: invalid_request where it exceeds the bounds of a message. */
export function decodeRequest(data: Uint8Array): unknown {
  const text = decoder.decode(data);
  assertJsonBounds(text, messageBounds);
  return JSON.parse(text);
}

export function endHeaders(count: number): MsgHdrs {
  const result = headers();
  result.set(header.stream, 'end');
  result.set(header.count, String(count));
  return result;
}

/** Headers of an instance's answer with its name. */
export function loadHeaders(
  load: number | undefined,
  { models = [], bulk = 0 }: { models?: readonly string[]; bulk?: number } = {},
): MsgHdrs {
  const result = headers();
  result.set(header.load, load === undefined ? 'none' : String(load));
  if (bulk > 0) result.set(header.bulk, String(bulk));
  if (models.length > 0) result.set(header.models, JSON.stringify(models));
  return result;
}

/** The names in a header of {@link loadHeaders}; empty if another program wrote a different format. */
export function modelsOf(value: string | undefined): string[] {
  try {
    const names: unknown = JSON.parse(value || '[]');
    return Array.isArray(names) ? names.filter((name) => typeof name === 'string') : [];
  } catch {
    return [];
  }
}

export function aliveHeaders(instance: string): MsgHdrs {
  const result = headers();
  result.set(header.stream, 'alive');
  result.set(header.instance, instance);
  return result;
}

export function errorHeaders(error: MegaNestError): MsgHdrs {
  const result = headers();
  result.set(header.errorCode, String(error.status));
  // Header values are single lines; the whole of a long message is in the body.
  result.set(header.error, error.message.slice(0, 500).replaceAll(/[\r\n]+/g, ' '));
  return result;
}

/** The NATS server reports that the subject of a call does not have a listener. */
export class NobodyThereError extends MegaNestError {
  constructor(service: string) {
    super('service_unavailable', { service, detail: 'no instance is running' });
  }
}

/** The error if no instance serves a model at the moment, e.g. while the only one is replaced. */
export function modelAway(service: string, model: string): MegaNestError {
  const detail = `no instance that serves the model ${model} is running`;
  return new MegaNestError('service_unavailable', { service, detail, retryAfter: 1 });
}

/** Returns the error of a message, if it has one. */
export function errorOf(message: Msg, service: string): MegaNestError | undefined {
  if (message.headers?.code === 503 && message.data.length === 0) {
    return new NobodyThereError(service);
  }
  const description = message.headers?.get(header.error);
  const status = Number(message.headers?.get(header.errorCode));
  if (!description && !status) return undefined;
  const { data } = errorBodySchema.safeParse(bodyOf(message));
  if (data?.code !== undefined && isErrorCode(data.code)) {
    const { code, message: text = description ?? '', service: from = service } = data;
    return MegaNestError.fromBody({ ...data, code, status, message: text, service: from });
  }
  return foreignError(service, data?.status ?? status, data?.message ?? description ?? '');
}

/** An error as a service sends it. One in another language may have codes of its own, and fewer fields. */
const errorBodySchema = z.object({
  code: z.string().optional(),
  status: z.number().optional(),
  type: z.string().default('server_error'),
  message: z.string().optional(),
  param: z.string().nullable().default(null),
  service: z.string().optional(),
  retryAfter: z.number().optional(),
  final: z.literal(true).optional(),
});

function bodyOf(message: Msg): unknown {
  try {
    return decodeJson(message.data);
  } catch {
    return undefined;
  }
}

/** The error of the table that is nearest to the status of another one. Its message names the service. */
function foreignError(service: string, status: number, detail: string): MegaNestError {
  if (status === 429)
    return new MegaNestError('rate_limit_exceeded', { service, detail: `${service}: ${detail}` });
  if (status >= 400 && status < 500)
    return new MegaNestError('invalid_request', {
      service,
      detail: `The ${service} service refused this: ${detail}`,
    });
  if (status === 503) return new MegaNestError('service_unavailable', { service, detail });
  if (status === 504)
    return new MegaNestError('deadline_exceeded', { service, detail: ` in ${service}: ${detail}` });
  return new MegaNestError('internal_error', { service, detail });
}
