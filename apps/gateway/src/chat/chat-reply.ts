import type { RunReceipt } from '#dag';
import { chatCompletionFrames, collectChatCompletion, errorFrame, type SpokenChunk } from '#openai-api';
import { sendEventStream, setDegraded, setIgnored, type Frames } from '#service-kit';
import type { FastifyReply } from 'fastify';
import { degradedSteps } from '../mega-services/receipt-store.js';
import type { ChatRun } from './chat-model.js';
import type { HeldKey } from './idempotent-chats.js';

/** A chat under way, whose answer may be spoken. */
type SpokenRun = Omit<ChatRun, 'chunks'> & { chunks: AsyncIterable<SpokenChunk> };

/** Writes a chat as one `chat.completion`; `held` keeps it. */
export async function sendChatCompletion(
  reply: FastifyReply,
  run: SpokenRun,
  held?: Pick<HeldKey, 'keep'>,
): Promise<void> {
  const completion = await collectChatCompletion(run.chunks, run.identity);
  setHeaders(reply, run);
  await held?.keep(reply, completion);
  await reply.status(200).send(completion);
}

/** Writes a chat as server-sent `chat.completion.chunk` events, ended by `[DONE]`; `held` keeps them. */
export async function sendChatStream(
  reply: FastifyReply,
  run: SpokenRun,
  includeUsage: boolean,
  held?: Pick<HeldKey, 'record'>,
): Promise<void> {
  const frames = chatCompletionFrames(run.chunks, run.identity, includeUsage);
  await sendFrames(reply, run, held ? held.record(reply, frames) : frames);
}

/** Writes the frames of a chat; sets its headers when the first one is there: by then it is known where the time went. */
export async function sendFrames(
  reply: FastifyReply,
  run: Pick<ChatRun, 'ignored' | 'receipt'>,
  frames: Frames,
): Promise<void> {
  await sendEventStream(reply, frames, errorFrame, { beforeHead: () => setHeaders(reply, run) });
}

function setHeaders(reply: FastifyReply, { ignored, receipt }: Pick<ChatRun, 'ignored' | 'receipt'>): void {
  setIgnored(reply, ignored);
  if (receipt) setReceiptHeaders(reply, receipt());
}

/** Says in the head of an answer where the time went, and which steps it was made without. */
export function setReceiptHeaders(reply: FastifyReply, receipt: RunReceipt): void {
  void reply.header('server-timing', serverTiming(receipt));
  setDegraded(
    reply,
    degradedSteps(receipt).map(({ name }) => name),
  );
}

/** One entry per node, in milliseconds; a skipped node says so. */
export function serverTiming({ nodes, runMs }: RunReceipt): string {
  const entries = nodes.map(({ node, state, runMs: milliseconds, firstChunkMs }) => {
    if (state === 'skipped') return `${node};desc="skipped"`;
    return `${node};dur=${(state === 'running' ? (firstChunkMs ?? milliseconds) : milliseconds).toFixed(1)}`;
  });
  return [...entries, `total;dur=${runMs.toFixed(1)}`].join(', ');
}
