import { MegaNestError } from '#contracts';
import { headers, type Msg, type MsgHdrs, type NatsConnection } from '@nats-io/transport-node';
import { header } from './wire.js';

/** Most bytes of one request or reply, however many messages it takes: it is in memory whole on both sides. */
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

/** A body cut into messages: all but the last are marked `more`, the last with the size of the whole. */
export function* partsOf(data: Uint8Array, size: number): Generator<{ data: Uint8Array; headers: MsgHdrs }> {
  for (let start = 0; start < data.length; start += size) {
    const isLast = start + size >= data.length;
    const marked = headers();
    marked.set(header.part, isLast ? String(data.length) : 'more');
    yield { data: data.subarray(start, start + size), headers: marked };
  }
}

/** Puts a body together from its messages. */
export class PartCollector {
  #parts: Uint8Array[] = [];
  #bytes = 0;

  /** The whole body with its last part, undefined before. Errors: service_unavailable where parts are lost; payload_too_large. */
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
    const detail = `${whole.length} of ${part} bytes of a message came in`;
    throw new MegaNestError('service_unavailable', { service, detail });
  }
}
