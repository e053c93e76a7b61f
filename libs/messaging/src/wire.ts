import { MegaNestError, type ErrorBody } from '#contracts';
import { headers, type Msg, type MsgHdrs } from '@nats-io/transport-node';

/**
 * How calls look on the wire. A request is JSON to `meganest.<service>.<method>`. The answer is JSON on the reply
 * subject; a stream is several such messages and an empty one with `Meganest-Stream: end`.
 * A body beyond the size of a message travels in several, marked with `Meganest-Part`. While a call runs the
 * service sends `Meganest-Stream: alive` every second, first after a moment, so that its death is noticed; it says there
 * which instance it is.
 * Errors carry NATS's own service error headers (ADR-32) and the error as JSON.
 */
export const header = {
  requestId: 'Meganest-Request-Id',
  /** Milliseconds that are left; a duration, so that clocks need not agree. */
  timeout: 'Meganest-Timeout-Ms',
  /** Milliseconds that each reply of a stream gives the call again; absent where the timeout is for the whole. */
  idle: 'Meganest-Idle-Ms',
  callId: 'Meganest-Call-Id',
  traceparent: 'traceparent',
  stream: 'Meganest-Stream',
  /** On a request: the caller puts replies together from parts. */
  accept: 'Meganest-Accept',
  /** On a request without a body: how many bytes it has. The instance that gets the call asks for it with `Meganest-Stream: send`. */
  body: 'Meganest-Body',
  /** On a part of a body: `more`, or on the last one how many bytes all have together. */
  part: 'Meganest-Part',
  /** On heartbeats: who runs the call. */
  instance: 'Meganest-Instance',
  /**
   * On the answer of an instance to who it is: its calls under way, those that wait in its engine counted twice; `none` where it takes
   * no more. A caller may then send calls to the instance itself.
   */
  load: 'Meganest-Load',
  /** On the same answer: the names of the models that the instance serves, as a JSON array, where calls name one. */
  models: 'Meganest-Models',
  /** On the end message: how many messages the stream had, to notice lost ones. */
  count: 'Meganest-Count',
  errorCode: 'Nats-Service-Error-Code',
  error: 'Nats-Service-Error',
} as const;

export const heartbeatMs = 1_000;
/** A call that runs for so long gets its first heartbeat at the next look, within as long again; shorter ones get none. */
export const firstHeartbeatMs = 200;
/** Callers look at their calls so often; those of which nothing was heard in between are worth a question. */
export const checkMs = 250;
/** Silence after which a service counts as dead. */
export const silenceMs = 5_000;

const cancelPrefix = 'meganest.cancel';
export const allCancellations = `${cancelPrefix}.*`;

/** A message on this subject stops the call; NATS's own "no responders" answer to a heartbeat does when it comes again and again. */
export function cancelSubject(callId: string): string {
  return `${cancelPrefix}.${callId}`;
}

/**
 * Where an instance listens for as long as it is connected; without an instance, where all of a service tell their names
 * to whoever asks.
 */
export function aliveSubject(service: string, instance?: string): string {
  return instance === undefined ? `meganest.alive.${service}` : `meganest.alive.${service}.${instance}`;
}

/** Where one instance takes calls of a method, beside the queue group of its service. */
export function instanceSubject(subject: string, instance: string): string {
  return `${subject}.${instance}`;
}

/** Where an instance takes the parts of one body that is too large for a message. */
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

export function endHeaders(count: number): MsgHdrs {
  const result = headers();
  result.set(header.stream, 'end');
  result.set(header.count, String(count));
  return result;
}

/** Of an answer to who an instance is. */
export function loadHeaders(load: number | undefined, models: readonly string[] = []): MsgHdrs {
  const result = headers();
  result.set(header.load, load === undefined ? 'none' : String(load));
  if (models.length > 0) result.set(header.models, JSON.stringify(models));
  return result;
}

/** The names in a header of {@link loadHeaders}; none where another program wrote something else. */
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

/** The NATS server says that nobody listens where a call was sent to. */
export class NobodyThereError extends MegaNestError {
  constructor(service: string) {
    super('service_unavailable', { service, detail: 'no instance is running' });
  }
}

/** No instance of a service serves a model for the moment, as while the only one that does is replaced. */
export function modelAway(service: string, model: string): MegaNestError {
  const detail = `no instance that serves the model ${model} is running`;
  return new MegaNestError('service_unavailable', { service, detail, retryAfter: 1 });
}

/** The error that a message carries, if it carries one. */
export function errorOf(message: Msg, service: string): MegaNestError | undefined {
  if (message.headers?.code === 503 && message.data.length === 0) {
    return new NobodyThereError(service);
  }
  const description = message.headers?.get(header.error);
  if (!description) return undefined;
  if (message.data.length > 0) return MegaNestError.fromBody(decodeJson(message.data) as ErrorBody);
  return new MegaNestError('bad_upstream', { service, detail: description });
}
