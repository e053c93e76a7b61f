import type { GenerationEvent } from '#generation';
import type { CallReader, ParsedPiece } from './call-stream.js';
import type { ThinkSplitter } from './think-splitter.js';

type Logprobs = NonNullable<GenerationEvent['logprobs']>;

/** Reads one answer: tells thoughts, text and calls apart. */
export class AnswerReader {
  #held: Logprobs = [];
  #reasoningTokens = 0;

  constructor(
    private readonly thoughts: ThinkSplitter | undefined,
    private readonly calls: CallReader | undefined,
  ) {}

  /** Tokens that it thought with. */
  get reasoningTokens(): number {
    return this.#reasoningTokens;
  }

  read(event: GenerationEvent): GenerationEvent {
    const { logprobs, finishReason, ...rest } = event;
    const { text: said, reasoning } = this.#split(event);
    const { text, toolCalls } = this.#parse(said, finishReason !== undefined);
    const ended = finishReason === 'stop' && (this.calls?.calls ?? 0) > 0 ? 'tool_calls' : finishReason;
    return {
      ...rest,
      text,
      ...(reasoning !== '' && { reasoning }),
      ...(toolCalls.length > 0 && { toolCalls }),
      ...this.#logprobsOf(logprobs, text, toolCalls.length > 0 || reasoning !== ''),
      ...(ended && { finishReason: ended }),
    };
  }

  #split({ text, tokenIds, finishReason }: GenerationEvent): { text: string; reasoning: string } {
    if (!this.thoughts) return { text, reasoning: '' };
    if (this.thoughts.thinking) this.#reasoningTokens += tokenIds.length;
    const piece = this.thoughts.push(text);
    if (!finishReason) return piece;
    const rest = this.thoughts.end();
    return { text: piece.text + rest.text, reasoning: piece.reasoning + rest.reasoning };
  }

  #parse(text: string, last: boolean): ParsedPiece {
    if (!this.calls) return { text, toolCalls: [] };
    const piece = this.calls.push(text);
    if (!last) return piece;
    const rest = this.calls.end();
    return { text: piece.text + rest.text, toolCalls: [...piece.toolCalls, ...rest.toolCalls] };
  }

  /** They come with the text of their tokens; those of calls and thoughts have none. */
  #logprobsOf(logprobs: Logprobs | undefined, text: string, isOther: boolean): { logprobs?: Logprobs } {
    if (!logprobs) return {};
    this.#held.push(...logprobs);
    if (text === '' && !isOther) return {};
    const released = this.#held;
    this.#held = [];
    return text === '' ? {} : { logprobs: released };
  }
}

/** Reads each answer of a generation by itself. Events that say nothing any more are left out; errors are those of `explain`. */
export async function* readAnswers(
  events: AsyncIterable<GenerationEvent>,
  newReader: () => AnswerReader,
  explain: (error: unknown) => unknown,
): AsyncGenerator<GenerationEvent, void, void> {
  const readers = new Map<number, AnswerReader>();
  try {
    for await (const event of events) {
      const reader = readers.get(event.choice) ?? newReader();
      readers.set(event.choice, reader);
      const read = reader.read(event);
      const reasoningTokens = [...readers.values()].reduce((sum, each) => sum + each.reasoningTokens, 0);
      const { text, reasoning, toolCalls, logprobs, finishReason, usage, prompt } = read;
      if (text === '' && !(reasoning ?? toolCalls ?? logprobs ?? finishReason ?? usage ?? prompt)) continue;
      yield usage && reasoningTokens > 0 ? { ...read, usage: { ...usage, reasoningTokens } } : read;
    }
  } catch (error) {
    throw explain(error);
  }
}
