import {
  generationChunkSchema,
  MegaNestError,
  type GenerationChunk,
  type nodeReplySchema,
  type nodeRequestSchema,
  type RpcMethod,
} from '#contracts';
import type { NodeContext } from '#dag';
import type { CallOptions, RpcClient } from '#messaging';
import { z } from 'zod';

/** What of a mega service's request such a service is told. */
type Asked = Pick<z.output<typeof nodeRequestSchema>, 'query' | 'messages'>;
type NodeMethod = RpcMethod<typeof nodeRequestSchema, typeof nodeReplySchema>;

interface Announced {
  method: NodeMethod;
  /** Kind of the output. */
  output: string;
}

/** Calls a service that announced itself: one output, or a stream of them where it streams. */
export function callAnnouncedNode(
  client: RpcClient,
  { method, output }: Announced,
  context: NodeContext,
  options: CallOptions,
): Promise<unknown> | AsyncIterable<unknown> {
  const { query, messages } = (context.inputs['conversation'] ?? context.request) as Asked;
  const { inputs, parameters, report } = context;
  const outputs = outputsOf(client.stream(method, { query, messages, inputs, parameters }, options), report);
  const shaped = output === 'answer' ? toChunks(outputs, method.service) : outputs;
  return method.streaming ? shaped : only(shaped, method.service);
}

async function* outputsOf(
  replies: AsyncIterable<z.output<typeof nodeReplySchema>>,
  report: NodeContext['report'],
): AsyncGenerator {
  for await (const { output, report: details } of replies) {
    if (details) report(details);
    yield output;
  }
}

/** A verdict that cuts the branch passes as it is; its answer, and every other one, becomes a chunk of an answer. */
const answerSchema = z.union([
  z.string().transform((text) => ({ text })),
  generationChunkSchema.partial().required({ text: true }),
]);

async function* toChunks(outputs: AsyncIterable<unknown>, service: string): AsyncGenerator {
  let previous: GenerationChunk | undefined;
  for await (const output of outputs) {
    if (previous) yield previous;
    previous = toChunk(output, service);
  }
  // OpenAI's clients wait for a reason why an answer has ended.
  if (previous) yield { finishReason: 'stop', ...previous };
}

function toChunk(output: unknown, service: string): GenerationChunk {
  const parsed = answerSchema.safeParse(output);
  if (parsed.success) return { choice: 0, ...parsed.data };
  const detail = 'an output of the kind "answer" must be a text or an object with a text';
  throw new MegaNestError('bad_upstream', { service, detail });
}

async function only(outputs: AsyncIterable<unknown>, service: string): Promise<unknown> {
  for await (const output of outputs) return output;
  throw new MegaNestError('bad_upstream', { service, detail: 'it ended without an answer' });
}
