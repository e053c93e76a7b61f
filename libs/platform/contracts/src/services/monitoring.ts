import { z } from 'zod';
import { defineMethod } from './method.js';

export const dependencyHealthSchema = z.object({
  name: z.string(),
  healthy: z.boolean(),
  /** False if the service still works without it, with reduced quality. */
  required: z.boolean().optional(),
  detail: z.string().optional(),
  latencyMs: z.number().optional(),
});
export type DependencyHealth = z.infer<typeof dependencyHealthSchema>;

/** Progress of the download of a model's files. */
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
  /** Every required dependency works, and the process is not shutting down. */
  ready: z.boolean().optional(),
  version: z.string(),
  uptimeSeconds: z.number(),
  dependencies: z.array(dependencyHealthSchema),
  /** Problems that an operator must mend, although every dependency works. */
  warnings: z.array(z.string()).optional(),
});
export type ServiceHealth = z.infer<typeof serviceHealthSchema>;

/** `meganest.<service>.health`: every service answers it, after a real check of its model or database. */
export function healthMethod(service: string) {
  return defineMethod({ service, method: 'health', request: z.object({}), reply: serviceHealthSchema });
}

/** Latencies of ten minutes in a small form, so that the latencies of many instances can be merged. */
const latencyDigestSchema = z.object({
  count: z.int().nonnegative(),
  sum: z.number().describe('Seconds'),
  points: z
    .array(z.number())
    .describe('Latencies in ascending order; each represents the same share of the count'),
});
export type LatencyDigest = z.infer<typeof latencyDigestSchema>;

const operationDigestSchema = z.object({
  latencies: latencyDigestSchema,
  firstTokens: latencyDigestSchema,
});
export type OperationDigest = z.infer<typeof operationDigestSchema>;

/** `meganest.<service>.statistics`: the measurements of one instance in the last ten minutes, by operation. */
export function statisticsMethod(service: string) {
  const reply = z.object({ operations: z.record(z.string(), operationDigestSchema) });
  return defineMethod({ service, method: 'statistics', request: z.object({}), reply });
}

const seconds = z.number().nullable().describe('Seconds');

/** Measurements of an operation within one time step; null without a measurement. */
const timelinePointSchema = z.object({
  at: z.int().describe('Start of the step, in milliseconds since 1970'),
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
    .describe('Steps in which an operation ended, oldest first'),
});
export type Timeline = z.infer<typeof timelineSchema>;

/** `gateway.receipts`: the receipts of one gateway, by request, or the latest receipts of a mega service. */
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
    receipts: z.array(z.object({ requestId: z.string(), receipt: z.unknown() })),
  }),
});

/** `gateway.take-over`: a gateway that stops has released background responses, which another one continues. */
export const takeOverResponses = defineMethod({
  service: 'gateway',
  method: 'take-over',
  request: z.object({}),
  reply: z.object({}),
});
