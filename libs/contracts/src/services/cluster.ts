import { z } from 'zod';
import { defineMethod } from './method.js';

/** Latencies of ten minutes, so small that those of many instances can be put together. */
export const latencyDigestSchema = z.object({
  count: z.int().nonnegative(),
  sum: z.number().describe('Seconds'),
  points: z
    .array(z.number())
    .describe('Latencies in ascending order; each stands for the same share of the count'),
});
export type LatencyDigest = z.infer<typeof latencyDigestSchema>;

export const operationDigestSchema = z.object({
  latencies: latencyDigestSchema,
  firstTokens: latencyDigestSchema,
});
export type OperationDigest = z.infer<typeof operationDigestSchema>;

/** `meganest.<service>.statistics`: what one instance measured in the last ten minutes, by operation. */
export function statisticsMethod(service: string) {
  const reply = z.object({ operations: z.record(z.string(), operationDigestSchema) });
  return defineMethod({ service, method: 'statistics', request: z.object({}), reply });
}

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
