import type { GenerationChunk, TokenLogprob, TokenUsage } from '#platform/contracts';
import { dataFrame, doneFrame, usageObject } from '#api/openai-api';
import { z } from 'zod';

/** The log probabilities of a completion: a list for each field. */
interface PlainLogprobs {
  tokens: string[];
  token_logprobs: number[];
  top_logprobs: Record<string, number>[];
  text_offset: number[];
}

interface PlainChoice {
  text: string;
  index: number;
  logprobs: PlainLogprobs | null;
  finish_reason: string | null;
}

interface CompletionHead {
  id: string;
  created: number;
  model: string;
  system_fingerprint: string;
}

/** Schema of OpenAI's `text_completion`, for the OpenAPI document. */
export const textCompletionSchema = z.looseObject({
  id: z.string(),
  object: z.literal('text_completion'),
  created: z.int(),
  model: z.string(),
  choices: z.array(
    z.looseObject({
      text: z.string(),
      index: z.int(),
      logprobs: z.looseObject({}).nullable(),
      finish_reason: z.string().nullable(),
    }),
  ),
  usage: z.looseObject({ total_tokens: z.int() }).nullish(),
});

/** The chunks of one prompt's completions, and the text that comes before each of them. */
export interface PromptRun {
  chunks: AsyncIterable<GenerationChunk>;
  echoed: string;
}

/** Collects the completions of all prompts; those of one prompt have `n` indexes. */
export async function collectCompletion(runs: readonly PromptRun[], head: CompletionHead, n: number) {
  const collected = await Promise.all(runs.map((run, prompt) => collectPrompt(run, prompt * n)));
  const usage = sumOf(collected.map((each) => each.usage));
  const choices = collected.flatMap((each) => each.choices).toSorted((a, b) => a.index - b.index);
  return { ...head, object: 'text_completion' as const, choices, usage: usageObject(usage) };
}

async function collectPrompt({ chunks, echoed }: PromptRun, first: number) {
  const choices = new Map<number, PlainChoice>();
  let usage: TokenUsage | undefined;
  for await (const chunk of chunks) {
    const known = choices.get(chunk.choice);
    const choice = known ?? {
      text: echoed,
      index: first + chunk.choice,
      logprobs: null,
      finish_reason: null,
    };
    choices.set(chunk.choice, choice);
    if (chunk.logprobs) choice.logprobs = withTokens(choice.logprobs, chunk.logprobs, choice.text.length);
    choice.text += chunk.text;
    choice.finish_reason = chunk.finishReason ?? choice.finish_reason;
    usage = chunk.usage ?? usage;
  }
  return { choices: [...choices.values()], usage };
}

/** The completions as server-sent events, the prompts one after the other. */
export async function* completionFrames(
  runs: readonly PromptRun[],
  head: CompletionHead,
  { n, includeUsage }: { n: number; includeUsage: boolean },
): AsyncGenerator<string, void, void> {
  const body = (choices: PlainChoice[], usage?: object) => ({
    ...head,
    object: 'text_completion',
    choices,
    ...(includeUsage && { usage: usage ?? null }),
  });
  const usages: (TokenUsage | undefined)[] = [];
  for (const [prompt, { chunks, echoed }] of runs.entries()) {
    const lengths = new Map<number, number>();
    for await (const chunk of chunks) {
      const written = lengths.get(chunk.choice);
      const text = written === undefined ? echoed + chunk.text : chunk.text;
      const offset = written ?? echoed.length;
      lengths.set(chunk.choice, (written ?? 0) + text.length);
      if (chunk.usage) usages.push(chunk.usage);
      const logprobs = chunk.logprobs ? withTokens(null, chunk.logprobs, offset) : null;
      if (text === '' && !logprobs && !chunk.finishReason) continue;
      const index = prompt * n + chunk.choice;
      yield dataFrame(body([{ text, index, logprobs, finish_reason: chunk.finishReason ?? null }]));
    }
  }
  if (includeUsage) yield dataFrame(body([], usageObject(sumOf(usages))));
  yield doneFrame;
}

function withTokens(
  known: PlainLogprobs | null,
  tokens: readonly TokenLogprob[],
  offset: number,
): PlainLogprobs {
  const all = known ?? { tokens: [], token_logprobs: [], top_logprobs: [], text_offset: [] };
  let at = offset;
  for (const { token, logprob, top_logprobs: top } of tokens) {
    all.tokens.push(token);
    all.token_logprobs.push(logprob);
    all.top_logprobs.push(Object.fromEntries(top.map((each) => [each.token, each.logprob])));
    all.text_offset.push(at);
    at += token.length;
  }
  return all;
}

function sumOf(usages: readonly (TokenUsage | undefined)[]): TokenUsage {
  const add = (read: (usage: TokenUsage) => number) =>
    usages.reduce((sum, usage) => sum + (usage ? read(usage) : 0), 0);
  return {
    promptTokens: add(({ promptTokens }) => promptTokens),
    completionTokens: add(({ completionTokens }) => completionTokens),
    cachedTokens: add(({ cachedTokens }) => cachedTokens),
  };
}
