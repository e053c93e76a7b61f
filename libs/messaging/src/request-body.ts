import { MegaNestError } from '#contracts';
import { headers, type Msg, type NatsConnection } from '@nats-io/transport-node';
import { unguessableToken } from './connection.js';
import { PartCollector } from './parts.js';
import { bodySubject, header } from './wire.js';

type Received = Pick<Msg, 'data' | 'headers' | 'reply'>;

/**
 * The body of a request. One that is too large for a message is asked for: which of the instances gets the request is
 * decided by its first message, and the caller sends the parts to that one.
 * Errors: cancelled where the caller is gone or the signal aborts; payload_too_large; service_unavailable where parts are lost.
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
