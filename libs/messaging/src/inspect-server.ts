import { connect, errors, type NatsConnection } from '@nats-io/transport-node';
import { accessOptions, type ServerAccess } from './connection.js';

/** What a NATS server says of itself. */
export interface NatsFacts {
  version: string;
  maxPayloadBytes: number;
  jetStream: boolean;
  /** Why JetStream cannot be used though the server has it: off after a full disk, or not for this account. */
  jetStreamProblem: string | undefined;
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
    const jetStreamProblem = jetstream ? await problemOfJetStream(nats, timeoutMs) : undefined;
    const roundTripMs = await nats.rtt();
    return { version, maxPayloadBytes: max_payload, jetStream: jetstream, jetStreamProblem, roundTripMs };
  } finally {
    await nats.close();
  }
}

/** What JetStream itself says. Credentials that may not ask it, or hear its answer, find no problem. */
async function problemOfJetStream(nats: NatsConnection, timeout: number): Promise<string | undefined> {
  try {
    const answer = await nats.request('$JS.API.INFO', '', { timeout });
    return answer.json<{ error?: { description: string } }>().error?.description;
  } catch (error) {
    return error instanceof errors.NoRespondersError ? 'nothing answers for it' : undefined;
  }
}
