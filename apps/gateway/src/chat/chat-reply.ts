import type { GenerationChunk, Support } from '#platform/contracts';
import type { RunReceipt } from '#platform/dag';
import { chatCompletionFrames, collectChatCompletion, errorFrame, type SpokenChunk } from '#api/openai-api';
import { sendEventStream, setDegraded, setIgnored, setSupport, type Frames } from '#platform/service-kit';
import type { FastifyReply } from 'fastify';
import { degradedSteps } from '../mega-services/receipt-store.js';
import type { ChatRun } from './chat-model.js';
import type { HeldKey } from './idempotent-chats.js';

/** A running chat. Its answer may be spoken. */
type SpokenRun = Omit<ChatRun, 'chunks'> & { chunks: AsyncIterable<SpokenChunk> };

/** Sends a chat as one `chat.completion`, and stores it under the Idempotency-Key if `held` is given. */
export async function sendChatCompletion(
  reply: FastifyReply,
  run: SpokenRun,
  held?: Pick<HeldKey, 'keep'>,
): Promise<void> {
  const supports: Support[] = [];
  const completion = await collectChatCompletion(notingSupport(run.chunks, supports), run.identity);
  setHeaders(reply, run);
  setSupport(reply, supports);
  await held?.keep(reply, completion);
  await reply.status(200).send(completion);
}

/** Passes chunks on, and takes down how far documents support each answer. */
async function* notingSupport<Chunk extends Pick<GenerationChunk, 'support'>>(
  chunks: AsyncIterable<Chunk>,
  supports: Support[],
): AsyncGenerator<Chunk, void, void> {
  for await (const chunk of chunks) {
    if (chunk.support) supports.push(chunk.support);
    yield chunk;
  }
}

/**
 * Sends a chat as server-sent `chat.completion.chunk` events that end with `[DONE]`, and stores them under the
 * Idempotency-Key if `held` is given.
 */
export async function sendChatStream(
  reply: FastifyReply,
  run: SpokenRun,
  includeUsage: boolean,
  held?: Pick<HeldKey, 'record'>,
): Promise<void> {
  const frames = chatCompletionFrames(run.chunks, run.identity, includeUsage);
  await sendFrames(reply, run, held ? held.record(reply, frames) : frames);
}

/** Sends the frames of a chat. Sets the headers at the first frame, when the receipt has the times of the nodes. */
export async function sendFrames(
  reply: FastifyReply,
  run: Pick<ChatRun, 'ignored' | 'degraded' | 'receipt'>,
  frames: Frames,
): Promise<void> {
  await sendEventStream(reply, frames, errorFrame, { beforeHead: () => setHeaders(reply, run) });
}

function setHeaders(
  reply: FastifyReply,
  { ignored, degraded, receipt }: Pick<ChatRun, 'ignored' | 'degraded' | 'receipt'>,
): void {
  setIgnored(reply, ignored);
  setStepHeaders(reply, degraded, receipt?.());
}

/** Sets the header `x-meganest-degraded`, and from the receipt of a run `server-timing`. */
export function setStepHeaders(
  reply: FastifyReply,
  degraded: Iterable<string>,
  receipt: RunReceipt | undefined,
): void {
  if (receipt) void reply.header('server-timing', serverTiming(receipt));
  const steps = receipt ? degradedSteps(receipt).map(({ name }) => name) : [];
  setDegraded(reply, [...degraded, ...steps]);
}

/**
 * The value of `server-timing`: the milliseconds of each node and of the run. A skipped node has a description instead.
 */
export function serverTiming({ nodes, runMs }: RunReceipt): string {
  const entries = nodes.map(({ node, state, runMs: milliseconds, firstChunkMs }) => {
    if (state === 'skipped') return `${node};desc="skipped"`;
    return `${node};dur=${(state === 'running' ? (firstChunkMs ?? milliseconds) : milliseconds).toFixed(1)}`;
  });
  return [...entries, `total;dur=${runMs.toFixed(1)}`].join(', ');
}
