import type { GenerationEvent } from '#generation';
import { type CallReader, type ParsedPiece, partialEnd } from './call-stream.js';

/** The marks before and after the reasoning of an answer. */
export type ThinkMarks = readonly [open: string, close: string];

const thinkMarks: ThinkMarks = ['<think>', '</think>'];

/** Marks of the models that engines serve without a parser of their reasoning. */
export const engineThinkMarks: readonly ThinkMarks[] = [
  thinkMarks,
  ['<thinking>', '</thinking>'],
  ['[THINK]', '[/THINK]'],
];

/** Separates reasoning from text: `<think>…</think>` at the beginning of an answer. */
export class ThinkSplitter {
  #buffer = '';
  #state: 'start' | 'thinking' | 'saying';
  #close = thinkMarks[1];
  /** At the beginning of a part, where space is dropped. */
  #fresh = true;

  /** `opened`: the prompt ended with the opening mark. */
  constructor(
    opened: boolean,
    private readonly marks: readonly ThinkMarks[] = [thinkMarks],
  ) {
    this.#state = opened ? 'thinking' : 'start';
  }

  get thinking(): boolean {
    return this.#state === 'thinking';
  }

  push(text: string): { text: string; reasoning: string } {
    this.#buffer += text;
    if (this.#state === 'start' && !this.#decide()) return { text: '', reasoning: '' };
    const reasoning = this.#state === 'thinking' ? this.#think() : '';
    return { text: this.#state === 'saying' ? this.#take(this.#buffer.length) : '', reasoning };
  }

  /** Ends the answer and returns its rest. */
  end(): { text: string; reasoning: string } {
    const rest = this.#buffer;
    this.#buffer = '';
    return this.thinking ? { text: '', reasoning: rest.trimEnd() } : { text: rest, reasoning: '' };
  }

  /** Decides whether the answer begins with reasoning; returns false where more text is needed. */
  #decide(): boolean {
    const begun = this.#buffer.trimStart();
    if (this.marks.some(([open]) => begun.length < open.length && open.startsWith(begun))) return false;
    const opened = this.marks.find(([open]) => begun.startsWith(open));
    if (opened) {
      this.#buffer = begun.slice(opened[0].length);
      this.#close = opened[1];
    }
    this.#fresh = opened !== undefined;
    this.#state = opened ? 'thinking' : 'saying';
    return true;
  }

  #think(): string {
    const close = this.#close;
    const at = this.#buffer.indexOf(close);
    if (at < 0) {
      const free = this.#buffer.slice(0, this.#buffer.length - partialEnd(this.#buffer, close)).trimEnd();
      return this.#take(free.length);
    }
    const thought = this.#take(at).trimEnd();
    this.#buffer = this.#buffer.slice(close.length);
    this.#state = 'saying';
    this.#fresh = true;
    return thought;
  }

  #take(length: number): string {
    const taken = this.#buffer.slice(0, length);
    this.#buffer = this.#buffer.slice(length);
    const shown = this.#fresh ? taken.trimStart() : taken;
    if (shown !== '') this.#fresh = false;
    return shown;
  }
}

type Logprobs = NonNullable<GenerationEvent['logprobs']>;

/** Reads one answer and separates reasoning, text and calls. */
export class AnswerReader {
  #held: Logprobs = [];
  #reasoningTokens = 0;

  constructor(
    private readonly thoughts: ThinkSplitter | undefined,
    private readonly calls: CallReader | undefined,
  ) {}

  /** Number of the tokens of its reasoning. */
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

  /** Returns log probabilities with the text of their tokens, and drops those of calls and reasoning. */
  #logprobsOf(logprobs: Logprobs | undefined, text: string, isOther: boolean): { logprobs?: Logprobs } {
    if (!logprobs) return {};
    this.#held.push(...logprobs);
    if (text === '' && !isOther) return {};
    const released = this.#held;
    this.#held = [];
    return text === '' ? {} : { logprobs: released };
  }
}

/** Reads each answer of a generation separately. Leaves empty events out. Errors: converted by `explain`. */
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
