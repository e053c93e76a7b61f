import { Svcm, type ServiceStats } from '@nats-io/services';
import { connect, errors, type NatsConnection } from '@nats-io/transport-node';
import { z } from 'zod';
import { accessOptions, inboxPrefix, type MessagingConnection, type ServerAccess } from './connection.js';
import type { ServiceLoad } from './rpc-server.js';

/** One running instance of a service, from NATS's service discovery. */
export interface ServiceInstance {
  service: string;
  instanceId: string;
  version: string;
  started: string;
  metadata: Record<string, string>;
  /** Subjects that it answers. */
  subjects: string[];
  requests: number;
  errors: number;
  /** Its load, by the names of its gauges. */
  load: ServiceLoad;
}

const maxWaitMs = 300;
/** Custom services may show any data. */
const loadSchema = z.record(z.string(), z.record(z.string(), z.number())).catch({});

/** Finds the running instances of all MegaNest services. */
export class ServiceDirectory {
  constructor(private readonly connection: MessagingConnection) {}

  /** Instances that answered within 300 ms, in the order of their names. */
  async list(service?: string): Promise<ServiceInstance[]> {
    this.connection.assertConnected();
    const instances: ServiceInstance[] = [];
    // A separate inbox: every service may answer there, and not in the other inboxes of this connection.
    const options = { strategy: 'stall', maxWait: maxWaitMs, noMux: true } as const;
    const client = new Svcm(this.connection.nats).client(options);
    for await (const stats of await client.stats(service)) instances.push(toInstance(stats));
    return instances.sort((a, b) => a.service.localeCompare(b.service));
  }
}

function toInstance(stats: ServiceStats): ServiceInstance {
  const endpoints = stats.endpoints ?? [];
  return {
    service: stats.name,
    instanceId: stats.id,
    version: stats.version,
    started: stats.started,
    metadata: stats.metadata ?? {},
    subjects: endpoints.map(({ subject }) => subject),
    requests: endpoints.reduce((sum, endpoint) => sum + endpoint.num_requests, 0),
    errors: endpoints.reduce((sum, endpoint) => sum + endpoint.num_errors, 0),
    load: loadSchema.parse(endpoints.map(({ data }) => data).find(Boolean)),
  };
}

/** Facts about a NATS server. */
export interface NatsFacts {
  version: string;
  maxPayloadBytes: number;
  jetStream: boolean;
  /** Why JetStream cannot be used although the server has it: off after a full disk, or disabled for this account. */
  jetStreamProblem: string | undefined;
  roundTripMs: number;
}

/** Queries a NATS server once. Errors: the client's errors if the server is down or refuses the credentials. */
export async function inspectNats(access: ServerAccess, timeoutMs = 2_000): Promise<NatsFacts> {
  const nats = await connect({
    ...accessOptions(access),
    name: 'doctor',
    // A user may hear the inboxes of its own program only.
    inboxPrefix: inboxPrefix(access.user ?? 'doctor'),
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

/** The problem that JetStream reports. Without the permission to ask it, no problem is reported. */
async function problemOfJetStream(nats: NatsConnection, timeout: number): Promise<string | undefined> {
  try {
    const answer = await nats.request('$JS.API.INFO', '', { timeout });
    return answer.json<{ error?: { description: string } }>().error?.description;
  } catch (error) {
    return error instanceof errors.NoRespondersError ? 'nothing answers for it' : undefined;
  }
}
