import { connect } from '@nats-io/transport-node';
import { accessOptions, type ServerAccess } from './connection.js';

/** What a NATS server says of itself. */
export interface NatsFacts {
  version: string;
  maxPayloadBytes: number;
  jetStream: boolean;
  roundTripMs: number;
}

/** Asks a NATS server, once. Errors: the client's own where it cannot be reached or refuses the credentials. */
export async function inspectNats(access: ServerAccess, timeoutMs = 2_000): Promise<NatsFacts> {
  const nats = await connect({
    ...accessOptions(access),
    name: 'doctor',
    timeout: timeoutMs,
    reconnect: false,
  });
  try {
    const { version = 'unknown', max_payload = 0, jetstream = false } = nats.info ?? {};
    return { version, maxPayloadBytes: max_payload, jetStream: jetstream, roundTripMs: await nats.rtt() };
  } finally {
    await nats.close();
  }
}
