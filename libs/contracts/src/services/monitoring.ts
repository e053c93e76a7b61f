import { z } from 'zod';
import { defineMethod } from './method.js';

export const dependencyHealthSchema = z.object({
  name: z.string(),
  healthy: z.boolean(),
  /** False where the service works without it, if less well. */
  required: z.boolean().optional(),
  detail: z.string().optional(),
  latencyMs: z.number().optional(),
});
export type DependencyHealth = z.infer<typeof dependencyHealthSchema>;

/** How far the files of a model are here. */
export const modelDownloadSchema = z.object({
  model: z.string(),
  loadedBytes: z.number(),
  /** Absent until the size of the weights is known. */
  totalBytes: z.number().optional(),
});
export type ModelDownload = z.infer<typeof modelDownloadSchema>;

export const serviceHealthSchema = z.object({
  service: z.string(),
  description: z.string(),
  /** Every dependency works. */
  healthy: z.boolean(),
  /** Every dependency works that the service cannot do without, and the process is not about to stop. */
  ready: z.boolean().optional(),
  version: z.string(),
  uptimeSeconds: z.number(),
  dependencies: z.array(dependencyHealthSchema),
});
export type ServiceHealth = z.infer<typeof serviceHealthSchema>;

/** `meganest.<service>.health`: every service answers it; really asks its model or database. */
export function healthMethod(service: string) {
  return defineMethod({ service, method: 'health', request: z.object({}), reply: serviceHealthSchema });
}

/** Latencies of ten minutes, so small that those of many instances can be put together. */
const latencyDigestSchema = z.object({
  count: z.int().nonnegative(),
  sum: z.number().describe('Seconds'),
  points: z
    .array(z.number())
    .describe('Latencies in ascending order; each stands for the same share of the count'),
});
export type LatencyDigest = z.infer<typeof latencyDigestSchema>;

const operationDigestSchema = z.object({
  latencies: latencyDigestSchema,
  firstTokens: latencyDigestSchema,
});
export type OperationDigest = z.infer<typeof operationDigestSchema>;

/** `meganest.<service>.statistics`: what one instance measured in the last ten minutes, by operation. */
export function statisticsMethod(service: string) {
  const reply = z.object({ operations: z.record(z.string(), operationDigestSchema) });
  return defineMethod({ service, method: 'statistics', request: z.object({}), reply });
}

const seconds = z.number().nullable().describe('Seconds');

/** What happened to an operation within one step of time; null where nothing was measured. */
const timelinePointSchema = z.object({
  at: z.int().describe('Milliseconds since 1970 at which the step begins'),
  count: z.int(),
  errors: z.int(),
  p50_latency: seconds,
  p99_latency: seconds,
  p50_latency_first_token: seconds,
});
export type TimelinePoint = z.infer<typeof timelinePointSchema>;

/** `/v1/statistics/timeline`: the last ten minutes. */
export const timelineSchema = z.object({
  step_seconds: z.int(),
  operations: z
    .record(z.string(), z.array(timelinePointSchema))
    .describe('Steps in which something ended, oldest first'),
});
export type Timeline = z.infer<typeof timelineSchema>;

/** `gateway.receipts`: the receipts that one gateway keeps, by the request or the latest ones of a mega service. */
export const findReceipts = defineMethod({
  service: 'gateway',
  method: 'receipts',
  request: z.object({
    owner: z.string(),
    requestId: z.string().optional(),
    megaService: z.string().optional(),
    count: z.int().min(1).max(1_000).default(1),
  }),
  reply: z.object({
    receipts: z.array(
      z.object({ requestId: z.string(), receipt: z.unknown(), shadow: z.unknown().optional() }),
    ),
  }),
});
