import { MegaNestError } from '#platform/contracts';
import { headers, type Msg, type MsgHdrs, type NatsConnection } from '@nats-io/transport-node';
import { unguessableToken } from './connection.js';
import { header, bodySubject } from './wire.js';

/** Maximum bytes of one request or reply, over all its messages: both sides keep it in memory. */
export const maxBodyBytes = 64 * 1024 * 1024;
/** The server counts headers into its limit. */
const headerRoom = 16 * 1024;
const usualPayload = 1024 * 1024;

/** Bytes of a body that fit into one message of this server. */
export function partSize({ info }: Pick<NatsConnection, 'info'>): number {
  return Math.max(1024, (info?.max_payload ?? usualPayload) - headerRoom);
}

/** Errors: payload_too_large. */
export function requireSendable(bytes: number, what: string): void {
  if (bytes > maxBodyBytes)
    throw new MegaNestError('payload_too_large', { what, limit: `${maxBodyBytes} bytes` });
}

/** Splits a body into messages: the last has the size of the body, all others have the mark `more`. */
export function* partsOf(data: Uint8Array, size: number): Generator<{ data: Uint8Array; headers: MsgHdrs }> {
  for (let start = 0; start < data.length; start += size) {
    const isLast = start + size >= data.length;
    const marked = headers();
    marked.set(header.part, isLast ? String(data.length) : 'more');
    yield { data: data.subarray(start, start + size), headers: marked };
  }
}

/** Joins a body from its messages. */
export class PartCollector {
  #parts: Uint8Array[] = [];
  #bytes = 0;

  /**
   * Returns the body at its last part, undefined before. Errors: service_unavailable for lost parts; payload_too_large.
   */
  add({ data, headers: given }: Pick<Msg, 'data' | 'headers'>, service: string): Uint8Array | undefined {
    const part = given?.get(header.part) ?? '';
    this.#bytes += data.length;
    requireSendable(this.#bytes, 'The message');
    this.#parts.push(data);
    if (part === 'more') return undefined;
    const whole = Buffer.concat(this.#parts);
    this.#parts = [];
    this.#bytes = 0;
    if (whole.length === Number(part)) return whole;
    const detail = `only ${whole.length} of ${part} bytes of a message arrived`;
    throw new MegaNestError('service_unavailable', { service, detail });
  }
}

type Received = Pick<Msg, 'data' | 'headers' | 'reply'>;

/**
 * Reads the body of a request. If it is too large for a message, the service asks for it: the first message decides
 * which instance gets the request, and the caller sends the parts to that instance. Errors: cancelled if the caller is
 * gone or the signal aborts; payload_too_large; service_unavailable for lost parts.
 */
export async function readRequestBody(
  nats: NatsConnection,
  message: Received,
  { service, signal }: { service: string; signal: AbortSignal },
): Promise<Uint8Array> {
  if (!message.headers?.get(header.body) || !message.reply) return message.data;
  const inbox = bodySubject(service, unguessableToken());
  const subscription = nats.subscribe(inbox);
  const leave = () => subscription.unsubscribe();
  signal.addEventListener('abort', leave, { once: true });
  try {
    nats.publish(message.reply, undefined, { headers: sendHeaders(), reply: inbox });
    const collector = new PartCollector();
    for await (const part of subscription) {
      if (part.headers?.code === 503) break;
      const whole = collector.add(part, 'the caller');
      if (whole) return whole;
    }
    throw new MegaNestError('cancelled');
  } finally {
    signal.removeEventListener('abort', leave);
    subscription.unsubscribe();
  }
}

function sendHeaders() {
  const result = headers();
  result.set(header.stream, 'send');
  return result;
}

/**
 * Sends all messages of one turn of the event loop together. Otherwise the client library writes to its socket once for
 * each message of a separate microtask: for eight answers that get a token each, eight system calls instead of one.
 */
export class Outbox {
  #waiting: (() => void)[] = [];

  /**
   * @param onFailure Called for a message that could not be sent, because its sender cannot catch the error any more.
   */
  constructor(private readonly onFailure: (error: unknown) => void) {}

  /** Sends at the end of this turn, in the order of the calls. */
  add(send: () => void): void {
    if (this.#waiting.push(send) === 1) setImmediate(() => this.flush());
  }

  /** Sends the waiting messages at once. */
  flush(): void {
    const sends = this.#waiting;
    this.#waiting = [];
    for (const send of sends) {
      try {
        send();
      } catch (error) {
        this.onFailure(error);
      }
    }
  }
}
