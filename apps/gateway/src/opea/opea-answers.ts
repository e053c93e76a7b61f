import { z } from 'zod';

/** Answers of the listings and receipts, for the OpenAPI document. */

const texts = z.record(z.string(), z.string());

/** Path to description; with `verbose` the services with their nodes. */
export const serviceListAnswer = z.union([
  texts,
  z.object({ services: z.array(z.looseObject({ path: z.string(), name: z.string() })) }),
]);

/** Service to parameter to type; with `verbose` mega service to its parameters. */
export const parameterListAnswer = z.union([
  z.record(z.string(), texts),
  z.record(z.string(), z.array(z.looseObject({ name: z.string(), node: z.string(), type: z.string() }))),
]);

/** The specification's answer to a wrong method. */
export const wrongMethodAnswer = z.object({ error: z.string() });

const runReceipt = z.looseObject({
  megaService: z.string(),
  state: z.enum(['running', 'ok', 'failed', 'cancelled']),
  startedAt: z.number().describe('Epoch milliseconds'),
  runMs: z.number(),
  nodes: z.array(
    z.looseObject({
      node: z.string(),
      service: z.string(),
      state: z.enum(['waiting', 'running', 'ok', 'skipped', 'failed', 'cancelled']),
      queuedMs: z.number(),
      runMs: z.number(),
      attempts: z.int(),
    }),
  ),
});
const shadowReceipt = z.object({
  receipt: runReceipt,
  same: z.boolean().optional().describe('Whether both versions gave the same answer'),
});
export const receiptAnswer = z.object({
  requestId: z.string(),
  receipt: runReceipt,
  shadow: shadowReceipt.optional().describe('What a new version made of the same request'),
});
const milliseconds = z.number().nullable();
const versionSummary = z.object({
  version: z.string(),
  shadow: z.boolean(),
  requests: z.int(),
  failed: z.int(),
  p50_ms: milliseconds,
  p99_ms: milliseconds,
  same: z.int().optional().describe('Of a shadow: requests with the same answer'),
});

const megaService = z.looseObject({
  name: z.string(),
  path: z.string().nullable(),
  description: z.string(),
  output: z.string(),
  canary: z
    .object({ of: z.string(), percent: z.number(), shadow: z.boolean() })
    .nullable()
    .describe('What it is a new version of'),
  nodes: z.array(z.looseObject({ node: z.string(), service: z.string(), after: z.array(z.string()) })),
});
export const megaServicesAnswer = z.object({ megaservices: z.array(megaService) });
export const megaServiceAnswer = megaService.extend({
  source: z.string().describe('The YAML of its file'),
  recent: z.array(runReceipt.extend({ requestId: z.string(), shadow: shadowReceipt.optional() })),
  versions: z.array(versionSummary).describe('How each version did, from the receipts of this gateway'),
});

export const validationAnswer = z.object({
  valid: z.boolean(),
  problems: z.array(
    z.object({
      file: z.string(),
      node: z.string().optional(),
      field: z.string().optional(),
      message: z.string(),
    }),
  ),
});

export const instancesAnswer = z.object({
  instances: z.array(
    z.object({
      service: z.string(),
      instance_id: z.string(),
      version: z.string(),
      started: z.string(),
      requests: z.int(),
      errors: z.int(),
      load: z
        .record(z.string(), z.record(z.string(), z.number()))
        .describe('What it is busy with, as its metrics name it: of engines the requests and the cache'),
    }),
  ),
});
