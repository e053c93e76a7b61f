import { z } from 'zod';

const nodeNameSchema = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9_-]*$/, 'a node name is letters, digits, - and _, and begins with a letter');

/** Maximum delay of a timer; a longer one fires at once. */
const maxTimerMs = 2 ** 31 - 1;

const paramsSchema = z.record(z.string(), z.unknown());

const nodeSchema = z.strictObject({
  service: z.string().min(1),
  after: z.array(nodeNameSchema).default([]),
  inputs: z.record(z.string(), nodeNameSchema).default({}),
  params: paramsSchema.default({}),
  locked: z.union([z.literal(true), z.array(z.string().min(1))]).default([]),
  optional: z.boolean().default(false),
  timeoutMs: z.int().min(1).max(maxTimerMs).optional(),
  retry: z
    .strictObject({ attempts: z.int().min(1).max(10), backoffMs: z.int().min(0).max(60_000).default(100) })
    .default({ attempts: 1, backoffMs: 100 }),
  hedgeAfterMs: z.int().min(1).max(maxTimerMs).optional(),
  when: z.string().min(1).optional(),
  fallback: z
    .strictObject({ service: z.string().min(1).optional(), params: paramsSchema.default({}) })
    .optional(),
  stream: z.boolean().default(false),
});

/** A node of the YAML, with defaults. */
export type NodeSource = z.output<typeof nodeSchema>;

/** Schema of a mega service's YAML, before services, inputs and conditions are resolved. */
export const megaServiceSchema = z.strictObject({
  name: z
    .string()
    .regex(/^[A-Za-z0-9][\w.-]*$/, 'a name is letters, digits, . - and _: it is also a model name'),
  path: z
    .string()
    .regex(/^\/[\w./-]+$/, 'a path begins with / and has letters, digits, . _ - and /')
    .optional(),
  description: z.string().min(1),
  /** Example request body for the listing of mega services. */
  example: z.record(z.string(), z.unknown()).optional(),
  /** A new version of another mega service, which answers a part of that one's requests, or runs beside them. */
  canary: z
    .strictObject({
      of: z.string().min(1),
      percent: z.number().gt(0).max(100),
      shadow: z.boolean().default(false),
    })
    .optional(),
  output: nodeNameSchema.optional(),
  nodes: z
    .record(nodeNameSchema, nodeSchema)
    .refine((nodes) => Object.keys(nodes).length > 0, 'a mega service has at least one node'),
});

/** A mega service as parsed from YAML. */
export type MegaServiceSource = z.output<typeof megaServiceSchema>;
