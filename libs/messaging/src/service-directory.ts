import { Svcm, type ServiceStats } from '@nats-io/services';
import { z } from 'zod';
import type { MessagingConnection } from './connection.js';
import type { ServiceLoad } from './rpc-server.js';

/** One running instance of a service, as NATS's service discovery shows it. */
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
  /** What it is busy with, by the names of its gauges. */
  load: ServiceLoad;
}

const maxWaitMs = 300;
/** Services of others may show anything. */
const loadSchema = z.record(z.string(), z.record(z.string(), z.number())).catch({});

/** Finds the running instances of all MegaNest services. */
export class ServiceDirectory {
  constructor(private readonly connection: MessagingConnection) {}

  /** Instances that answered within 300 ms, in the order of their names. */
  async list(service?: string): Promise<ServiceInstance[]> {
    this.connection.assertConnected();
    const instances: ServiceInstance[] = [];
    // An inbox of its own: every service may answer there, and in no other inbox of this connection.
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
