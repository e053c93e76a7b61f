import type { GenerationChunk, TokenUsage } from '#platform/contracts';
import { citationAnnotations, GatheredCalls, type CompletionIdentity } from '#api/openai-api';
import { z } from 'zod';

const nanosecondsPerMillisecond = 1e6;

/** Schema of an answer, and of each line of a stream. */
export const ollamaAnswerSchema = z.looseObject({
  model: z.string(),
  created_at: z.string(),
  done: z.boolean(),
  done_reason: z.string().optional(),
  prompt_eval_count: z.int().optional(),
  eval_count: z.int().optional(),
});

/** A piece of an answer in the form of `/api/chat` or `/api/generate`. */
type Shape = (piece: { text: string; thinking?: string; more?: object }) => object;

/** `/api/chat`: the text is in a message. */
export const asMessage: Shape = ({ text, thinking, more }) => ({
  message: { role: 'assistant', content: text, ...(thinking && { thinking }), ...more },
});

/** `/api/generate`: the text is in `response`. */
export const asResponse: Shape = ({ text, thinking, more }) => ({
  response: text,
  ...(thinking && { thinking }),
  ...more,
});

/** The pieces of an answer as objects; calls come as whole, and the last one has the counts. */
export async function* answerObjects(
  chunks: AsyncIterable<GenerationChunk>,
  {
    model,
    identity,
    shape,
  }: { model: string; identity: Pick<CompletionIdentity, 'documents'>; shape: Shape },
): AsyncGenerator<object, void, void> {
  const startedAt = performance.now();
  const calls = new GatheredCalls();
  const annotations: object[] = [];
  let firstAt: number | undefined;
  let finish: GenerationChunk['finishReason'];
  let usage: TokenUsage | undefined;
  const head = () => ({ model, created_at: new Date().toISOString() });
  for await (const chunk of chunks) {
    firstAt ??= performance.now();
    for (const call of chunk.toolCalls ?? []) calls.add(call);
    finish = chunk.finishReason ?? finish;
    usage = chunk.usage ?? usage;
    annotations.push(...citationAnnotations(chunk.citations ?? [], identity.documents?.() ?? []));
    const { text, reasoning, logprobs } = chunk;
    if (text === '' && !reasoning && !logprobs) continue;
    const piece = shape({ text, ...(reasoning && { thinking: reasoning }) });
    yield { ...head(), ...piece, ...(logprobs && { logprobs }), done: false };
  }
  const called = calls.all.flatMap((call) =>
    call.type === 'function' ? [{ id: call.id, function: readCall(call.function) }] : [],
  );
  if (called.length > 0)
    yield { ...head(), ...shape({ text: '', more: { tool_calls: called } }), done: false };
  const cited = annotations.length > 0 ? { more: { annotations } } : {};
  yield {
    ...head(),
    ...shape({ text: '', ...cited }),
    done: true,
    done_reason: finish === 'length' ? 'length' : 'stop',
    ...timesOf(startedAt, firstAt ?? performance.now()),
    prompt_eval_count: usage?.promptTokens ?? 0,
    eval_count: usage?.completionTokens ?? 0,
  };
}

function readCall({ name, arguments: text }: { name: string; arguments: string }) {
  return { name, arguments: JSON.parse(text === '' ? '{}' : text) as unknown };
}

function nanoseconds(from: number, to: number): number {
  return Math.round((to - from) * nanosecondsPerMillisecond);
}

/** The times until the first piece, and after it. */
function timesOf(startedAt: number, firstAt: number) {
  const endedAt = performance.now();
  return {
    total_duration: nanoseconds(startedAt, endedAt),
    load_duration: 0,
    prompt_eval_duration: nanoseconds(startedAt, firstAt),
    eval_duration: nanoseconds(firstAt, endedAt),
  };
}

interface Collected extends Record<string, unknown> {
  message?: Record<string, unknown>;
}

/** Collects the objects of an answer to one. */
export async function collectAnswer(objects: AsyncIterable<object>): Promise<object> {
  let whole: Collected = {};
  for await (const each of objects as AsyncIterable<Collected>) {
    const { message, response, thinking, logprobs, ...rest } = each;
    whole = {
      ...whole,
      ...rest,
      ...(message && { message: joined(whole.message, message) }),
      ...(typeof response === 'string' &&
        joined(pick(whole), { response, ...(thinking ? { thinking } : {}) })),
      ...(Array.isArray(logprobs) && {
        logprobs: [...((whole['logprobs'] as unknown[]) ?? []), ...(logprobs as unknown[])],
      }),
    };
  }
  return whole;
}

function pick({ response, thinking }: Collected): Record<string, unknown> {
  return { ...(response !== undefined && { response }), ...(thinking !== undefined && { thinking }) };
}

/** Texts are joined, and other fields replaced. */
function joined(
  before: Record<string, unknown> = {},
  next: Record<string, unknown>,
): Record<string, unknown> {
  const fields = Object.entries(next).map(([name, value]) => {
    const known = before[name];
    const adds = name !== 'role' && typeof value === 'string' && typeof known === 'string';
    return [name, adds ? known + value : value];
  });
  return { ...before, ...(Object.fromEntries(fields) as Record<string, unknown>) };
}
