import { z } from 'zod';
import { chatMessageSchema } from './llm.js';
import { defineMethod } from './method.js';

/** Key of a service's NATS discovery metadata that holds its {@link NodeAnnouncement} as JSON. */
export const nodeMetadataKey = 'meganest.node';

const identifier = z.string().regex(/^[A-Za-z][\w-]*$/, 'letters, digits, - and _');

/**
 * The announcement of a service that a mega service's YAML can name: its inputs, its output, and its parameters as JSON
 * Schema. The services here know the kinds `embedding`, `documents` and `answer`; any other name works between services
 * that agree on it.
 */
export const nodeAnnouncementSchema = z.object({
  method: identifier.default('run').describe('Subject meganest.<service>.<method>'),
  inputs: z
    .record(identifier, z.object({ kind: z.string().min(1), optional: z.boolean().optional() }))
    .default({}),
  output: z.string().min(1).describe('Kind of the output'),
  parameters: z.looseObject({ type: z.literal('object') }).default({ type: 'object' }),
  passThrough: z.string().optional().describe('Input that replaces the output when the node is skipped'),
  streaming: z.boolean().default(false),
});
export type NodeAnnouncement = z.output<typeof nodeAnnouncementSchema>;

/** A request to such a service: the conversation, the outputs of its predecessors by input, and its parameters. */
export const nodeRequestSchema = z.object({
  query: z.string().describe('The last message of the user'),
  messages: z.array(chatMessageSchema),
  inputs: z.record(z.string(), z.unknown()),
  parameters: z.record(z.string(), z.unknown()),
});

/** A reply of such a service, or one message of its stream. An `answer` is a text or an object with a `text`. */
export const nodeReplySchema = z.object({
  output: z
    .unknown()
    .refine((output) => output !== undefined, 'a reply needs an output, or the headers of an error'),
  report: z.record(z.string(), z.unknown()).optional().describe('Shown in the receipt of the request'),
});
export type NodeReply = z.input<typeof nodeReplySchema>;

/**
 * Defines a custom service for mega services: `@RpcHandler(it.method)` handles its calls,
 * `MessagingModule.register({ …, metadata: it.metadata })` announces it. See docs/services.md.
 */
export function defineNode<Parameters extends z.ZodObject>(
  definition: { service: string; parameters: Parameters } & Omit<
    z.input<typeof nodeAnnouncementSchema>,
    'method' | 'parameters'
  >,
) {
  const { service, parameters, streaming = false, ...rest } = definition;
  const { $schema: _dialect, ...schema } = z.toJSONSchema(parameters, { io: 'input' });
  const announcement = nodeAnnouncementSchema.parse({ ...rest, streaming, parameters: schema });
  const method = defineMethod({
    service,
    method: announcement.method,
    request: nodeRequestSchema.extend({ parameters }),
    reply: nodeReplySchema,
    streaming,
  });
  return { method, metadata: { [nodeMetadataKey]: JSON.stringify(announcement) } };
}
