import {
  coverageOf,
  type GenerationChunk,
  type RetrievedDocument,
  type Support,
  type TokenLogprob,
  type TokenUsage,
} from '#platform/contracts';
import {
  citationAnnotations,
  type CitationAnnotation,
  CallPieces,
  GatheredCalls,
  type CompletionToolCall,
  type ToolCallPiece,
} from './chat-answers.js';
import { dataFrame, doneFrame } from './http-answers.js';

export interface CompletionUsage {
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
  prompt_tokens_details: { cached_tokens: number };
  completion_tokens_details: { reasoning_tokens: number };
}

interface ChoiceLogprobs {
  content: TokenLogprob[];
  refusal: null;
}

type FinishReason = NonNullable<GenerationChunk['finishReason']> | 'function_call';

/** MegaNest's own fields of a choice that quotes documents. */
interface CertaintyFields {
  /** It probably answers, it is the closest passage, or the documents do not answer. */
  answer_kind?: 'answer' | 'closest' | 'none';
  /** Probability that this is right, 0–1. */
  confidence?: number;
}

/** MegaNest's own fields of a choice that a model wrote from documents. */
interface SupportFields {
  /** Share of the statements with a citation; absent without a statement. */
  citation_coverage?: number;
  /** Numbers without a passage, which were removed from the text. */
  unknown_citations?: number[];
}

export interface ChatCompletionChoice extends CertaintyFields, SupportFields {
  index: number;
  message: {
    role: 'assistant';
    /** null if the model only called tools, or refused. */
    content: string | null;
    /** The refusal in place of an answer, or of the rest of an answer. */
    refusal: string | null;
    annotations?: CitationAnnotation[];
    tool_calls?: CompletionToolCall[];
    /** The call, for requests with the deprecated `functions`. */
    function_call?: { name: string; arguments: string };
    /** The spoken answer, with its text as the transcript; `content` is null then. */
    audio?: { id: string; data: string; expires_at: number; transcript: string };
    /** The model's reasoning, under the name that vLLM, SGLang and DeepSeek use. */
    reasoning_content?: string;
  };
  logprobs: ChoiceLogprobs | null;
  finish_reason: FinishReason;
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
  choices: (CertaintyFields &
    SupportFields & {
      index: number;
      delta: {
        role?: 'assistant';
        content?: string | null;
        refusal?: string;
        annotations?: CitationAnnotation[];
        tool_calls?: ToolCallPiece[];
        function_call?: { name?: string; arguments: string };
        reasoning_content?: string;
        audio?: { id: string; data?: string; transcript?: string; expires_at?: number };
      };
      logprobs: ChoiceLogprobs | null;
      finish_reason: FinishReason | null;
    })[];
  usage?: CompletionUsage | null;
}

/** A piece of an answer, with its audio if the answer is spoken. */
export type SpokenChunk = GenerationChunk & {
  audio?: {
    id: string;
    /** A piece of the audio. */
    data?: Buffer;
    transcript?: string;
    /** Unix seconds. */
    expiresAt?: number;
  };
};

/** The fields that all bodies of one completion share. */
export interface CompletionIdentity {
  id: string;
  /** Unix seconds. */
  created: number;
  model: string;
  /** Short hash of the weights, shown as `fp_<revision>`. */
  revision?: string;
  /** The documents that citations resolve to. */
  documents?: () => readonly RetrievedDocument[];
  /** The caller uses the deprecated `functions`. */
  legacyFunctions?: boolean;
}

/** Collects a stream of chunks into one `chat.completion`. */
export async function collectChatCompletion(
  chunks: AsyncIterable<SpokenChunk>,
  identity: CompletionIdentity,
): Promise<ChatCompletion> {
  const choices = new Map<number, OpenChoice>();
  let usage = usageObject();
  for await (const chunk of chunks) {
    extendChoice(choiceAt(choices, chunk.choice), chunk, identity);
    if (chunk.usage) usage = usageObject(chunk.usage);
  }
  const ordered = [...choices.values()]
    .map((open) => finishedChoice(open, identity))
    .sort((a, b) => a.index - b.index);
  return { ...head(identity), object: 'chat.completion', choices: ordered, usage };
}

/**
 * Converts a stream of chunks to frames with `chat.completion.chunk` objects. `[DONE]` ends the stream; the last object
 * has the usage if the request includes it.
 */
export async function* chatCompletionFrames(
  chunks: AsyncIterable<SpokenChunk>,
  identity: CompletionIdentity,
  includeUsage: boolean,
): AsyncGenerator<string> {
  const started = new Map<number, CallPieces>();
  const withoutUsage = includeUsage ? { usage: null } : {};
  const body = (choices: ChatCompletionChunk['choices']): ChatCompletionChunk => ({
    ...head(identity),
    object: 'chat.completion.chunk',
    choices,
    ...withoutUsage,
  });
  let usage: TokenUsage | undefined;
  for await (const chunk of chunks) {
    usage = chunk.usage ?? usage;
    for (const choice of choicesOf(chunk, identity, started)) yield dataFrame(body([choice]));
  }
  if (includeUsage) yield dataFrame({ ...body([]), usage: usageObject(usage) });
  yield doneFrame;
}

/** The choices of a chunk, one per object; `started` has the calls of the answers that have begun. */
function* choicesOf(
  chunk: SpokenChunk,
  identity: CompletionIdentity,
  started: Map<number, CallPieces>,
): Generator<ChatCompletionChunk['choices'][number]> {
  const { choice, text, reasoning, audio, refusal, logprobs, toolCalls = [] } = chunk;
  if (!started.has(choice)) yield deltaChoice(choice, { role: 'assistant', content: '' });
  const pieces = started.get(choice) ?? new CallPieces();
  started.set(choice, pieces);
  if (reasoning) yield deltaChoice(choice, { reasoning_content: reasoning });
  if (audio) yield deltaChoice(choice, { audio: audioDelta(audio) });
  if (refusal) {
    if (text) yield deltaChoice(choice, { refusal: text });
  } else if (!audio && (text || logprobs)) {
    yield deltaChoice(choice, { content: text }, logprobsObject(logprobs));
  }
  for (const call of toolCalls) yield deltaChoice(choice, callDelta(pieces.piece(call), identity));
  const annotations = citationAnnotations(chunk.citations ?? [], identity.documents?.() ?? []);
  const cited = annotations.length > 0 ? { annotations } : {};
  if (chunk.finishReason) yield finalChoice(chunk, cited, identity);
  else if (annotations.length > 0) yield deltaChoice(choice, cited);
}

function deltaChoice(
  index: number,
  delta: ChatCompletionChunk['choices'][number]['delta'],
  logprobs: ChoiceLogprobs | null = null,
) {
  return { index, delta, logprobs, finish_reason: null };
}

function audioDelta({ id, data, transcript, expiresAt }: NonNullable<SpokenChunk['audio']>) {
  return {
    id,
    ...(data && { data: data.toString('base64') }),
    ...(transcript !== undefined && { transcript }),
    ...(expiresAt !== undefined && { expires_at: expiresAt }),
  };
}

function finalChoice(
  chunk: GenerationChunk,
  delta: ChatCompletionChunk['choices'][number]['delta'],
  identity: CompletionIdentity,
): ChatCompletionChunk['choices'][number] {
  const finish_reason = finishReasonOf(chunk, identity);
  return { index: chunk.choice, delta, logprobs: null, finish_reason, ...ownFields(chunk) };
}

/** MegaNest's own fields of a finished choice. */
function ownFields(chunk: GenerationChunk): CertaintyFields & SupportFields {
  return { ...certaintyFields(chunk), ...(chunk.support && supportFields(chunk.support)) };
}

function supportFields(support: Support): SupportFields {
  const { unknown } = support;
  const coverage = coverageOf(support);
  return {
    ...(coverage !== undefined && { citation_coverage: coverage }),
    ...(unknown.length > 0 && { unknown_citations: unknown }),
  };
}

function certaintyFields({ certainty }: GenerationChunk): CertaintyFields {
  return certainty ? { answer_kind: certainty.kind, confidence: certainty.confidence } : {};
}

/** The deprecated format has only one call at a time. */
function callDelta(piece: ToolCallPiece, { legacyFunctions }: CompletionIdentity) {
  return legacyFunctions && piece.function ? { function_call: piece.function } : { tool_calls: [piece] };
}

function finishReasonOf(
  { finishReason = 'stop' }: GenerationChunk,
  identity: CompletionIdentity,
): FinishReason {
  return finishReason === 'tool_calls' && identity.legacyFunctions ? 'function_call' : finishReason;
}

/** A choice whose pieces are still arriving. */
interface OpenChoice {
  choice: ChatCompletionChoice;
  text: string;
  calls: GatheredCalls;
  /** The pieces of a spoken answer. */
  speech: Buffer[];
}

function finishedChoice(
  { choice, text, calls, speech }: OpenChoice,
  identity: CompletionIdentity,
): ChatCompletionChoice {
  const { message } = choice;
  const all = calls.all;
  const saysElse = all.length > 0 || message.refusal !== null;
  message.content = text === '' && saysElse ? null : text;
  if (message.audio) {
    message.content = null;
    message.audio.data = Buffer.concat(speech).toString('base64');
  }
  const [first] = all;
  if (identity.legacyFunctions && first?.type === 'function') message.function_call = first.function;
  else if (first) message.tool_calls = all;
  return choice;
}

function choiceAt(choices: Map<number, OpenChoice>, index: number): OpenChoice {
  const known = choices.get(index);
  if (known) return known;
  const choice: ChatCompletionChoice = {
    index,
    message: { role: 'assistant', content: '', refusal: null },
    logprobs: null,
    finish_reason: 'stop',
  };
  const open = { choice, text: '', calls: new GatheredCalls(), speech: [] };
  choices.set(index, open);
  return open;
}

function extendSpeech(
  { choice: { message }, speech }: OpenChoice,
  audio: NonNullable<SpokenChunk['audio']>,
): void {
  const { id, data, transcript = '', expiresAt } = audio;
  message.audio ??= { id, data: '', expires_at: 0, transcript: '' };
  message.audio.transcript += transcript;
  if (expiresAt !== undefined) message.audio.expires_at = expiresAt;
  if (data) speech.push(data);
}

function extendChoice(open: OpenChoice, chunk: SpokenChunk, identity: CompletionIdentity): void {
  const { choice } = open;
  if (chunk.refusal) choice.message.refusal = (choice.message.refusal ?? '') + chunk.text;
  else open.text += chunk.text;
  if (chunk.audio) extendSpeech(open, chunk.audio);
  for (const call of chunk.toolCalls ?? []) open.calls.add(call);
  if (chunk.reasoning)
    choice.message.reasoning_content = (choice.message.reasoning_content ?? '') + chunk.reasoning;
  if (chunk.logprobs) {
    choice.logprobs ??= { content: [], refusal: null };
    choice.logprobs.content.push(...chunk.logprobs);
  }
  if (chunk.citations)
    (choice.message.annotations ??= []).push(
      ...citationAnnotations(chunk.citations, identity.documents?.() ?? []),
    );
  if (chunk.finishReason) choice.finish_reason = finishReasonOf(chunk, identity);
  Object.assign(choice, ownFields(chunk));
}

function logprobsObject(logprobs: TokenLogprob[] | undefined): ChoiceLogprobs | null {
  return logprobs ? { content: logprobs, refusal: null } : null;
}

function head({ id, created, model, revision = '0' }: CompletionIdentity) {
  return { id, created, model, system_fingerprint: `fp_${revision}` };
}

/** Converts token counts to OpenAI's usage. */
export function usageObject(
  usage: TokenUsage = { promptTokens: 0, completionTokens: 0, cachedTokens: 0 },
): CompletionUsage {
  return {
    prompt_tokens: usage.promptTokens,
    completion_tokens: usage.completionTokens,
    total_tokens: usage.promptTokens + usage.completionTokens,
    prompt_tokens_details: { cached_tokens: usage.cachedTokens },
    completion_tokens_details: { reasoning_tokens: usage.reasoningTokens ?? 0 },
  };
}
