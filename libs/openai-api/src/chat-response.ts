import type { GenerationChunk, RetrievedDocument, TokenLogprob, TokenUsage } from '#contracts';
import { citationAnnotations, type CitationAnnotation } from './annotations.js';

export interface CompletionUsage {
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
  prompt_tokens_details: { cached_tokens: number };
}

interface ChoiceLogprobs {
  content: TokenLogprob[];
  refusal: null;
}

export interface ChatCompletionChoice {
  index: number;
  message: { role: 'assistant'; content: string; refusal: null; annotations?: CitationAnnotation[] };
  logprobs: ChoiceLogprobs | null;
  finish_reason: 'stop' | 'length';
}

export interface ChatCompletion {
  id: string;
  object: 'chat.completion';
  created: number;
  model: string;
  system_fingerprint: string;
  choices: ChatCompletionChoice[];
  usage: CompletionUsage;
}

export interface ChatCompletionChunk {
  id: string;
  object: 'chat.completion.chunk';
  created: number;
  model: string;
  system_fingerprint: string;
  choices: {
    index: number;
    delta: { role?: 'assistant'; content?: string; annotations?: CitationAnnotation[] };
    logprobs: ChoiceLogprobs | null;
    finish_reason: 'stop' | 'length' | null;
  }[];
  usage?: CompletionUsage | null;
}

/** What all bodies of one completion share. */
export interface CompletionIdentity {
  id: string;
  /** Unix seconds. */
  created: number;
  model: string;
  /** Short hash of the weights, shown as `fp_<revision>`. */
  revision?: string;
  /** The documents that citations resolve to. */
  documents?: () => readonly RetrievedDocument[];
}

/** Gathers a stream of chunks into one `chat.completion`. */
export async function collectChatCompletion(
  chunks: AsyncIterable<GenerationChunk>,
  identity: CompletionIdentity,
): Promise<ChatCompletion> {
  const choices = new Map<number, ChatCompletionChoice>();
  let usage = usageObject();
  for await (const chunk of chunks) {
    extendChoice(choiceAt(choices, chunk.choice), chunk, identity);
    if (chunk.usage) usage = usageObject(chunk.usage);
  }
  const ordered = [...choices.values()].sort((a, b) => a.index - b.index);
  return { ...head(identity), object: 'chat.completion', choices: ordered, usage };
}

/** Turns a stream of chunks into `chat.completion.chunk` objects, the last one with the usage where it was asked for. */
export async function* chatCompletionChunks(
  chunks: AsyncIterable<GenerationChunk>,
  identity: CompletionIdentity,
  includeUsage: boolean,
): AsyncGenerator<ChatCompletionChunk> {
  const started = new Set<number>();
  const withoutUsage = includeUsage ? { usage: null } : {};
  const frame = (choices: ChatCompletionChunk['choices']): ChatCompletionChunk => ({
    ...head(identity),
    object: 'chat.completion.chunk',
    choices,
    ...withoutUsage,
  });
  let usage: TokenUsage | undefined;
  for await (const chunk of chunks) {
    usage = chunk.usage ?? usage;
    if (!started.has(chunk.choice))
      yield frame([deltaChoice(chunk.choice, { role: 'assistant', content: '' })]);
    started.add(chunk.choice);
    if (chunk.text || chunk.logprobs) {
      yield frame([deltaChoice(chunk.choice, { content: chunk.text }, logprobsObject(chunk.logprobs))]);
    }
    if (chunk.finishReason) yield frame([finalChoice(chunk, identity)]);
  }
  if (includeUsage) yield { ...frame([]), usage: usageObject(usage) };
}

function deltaChoice(
  index: number,
  delta: ChatCompletionChunk['choices'][number]['delta'],
  logprobs: ChoiceLogprobs | null = null,
) {
  return { index, delta, logprobs, finish_reason: null };
}

function finalChoice(
  chunk: GenerationChunk,
  identity: CompletionIdentity,
): ChatCompletionChunk['choices'][number] {
  const annotations = citationAnnotations(chunk.citations ?? [], identity.documents?.() ?? []);
  const delta = annotations.length > 0 ? { annotations } : {};
  return { index: chunk.choice, delta, logprobs: null, finish_reason: chunk.finishReason ?? 'stop' };
}

function choiceAt(choices: Map<number, ChatCompletionChoice>, index: number): ChatCompletionChoice {
  const known = choices.get(index);
  if (known) return known;
  const choice: ChatCompletionChoice = {
    index,
    message: { role: 'assistant', content: '', refusal: null },
    logprobs: null,
    finish_reason: 'stop',
  };
  choices.set(index, choice);
  return choice;
}

function extendChoice(
  choice: ChatCompletionChoice,
  chunk: GenerationChunk,
  identity: CompletionIdentity,
): void {
  choice.message.content += chunk.text;
  if (chunk.logprobs) {
    choice.logprobs ??= { content: [], refusal: null };
    choice.logprobs.content.push(...chunk.logprobs);
  }
  if (chunk.citations)
    choice.message.annotations = citationAnnotations(chunk.citations, identity.documents?.() ?? []);
  if (chunk.finishReason) choice.finish_reason = chunk.finishReason;
}

function logprobsObject(logprobs: TokenLogprob[] | undefined): ChoiceLogprobs | null {
  return logprobs ? { content: logprobs, refusal: null } : null;
}

function head({ id, created, model, revision = '0' }: CompletionIdentity) {
  return { id, created, model, system_fingerprint: `fp_${revision}` };
}

/** OpenAI's usage from token counts. */
export function usageObject(
  usage: TokenUsage = { promptTokens: 0, completionTokens: 0, cachedTokens: 0 },
): CompletionUsage {
  return {
    prompt_tokens: usage.promptTokens,
    completion_tokens: usage.completionTokens,
    total_tokens: usage.promptTokens + usage.completionTokens,
    prompt_tokens_details: { cached_tokens: usage.cachedTokens },
  };
}
