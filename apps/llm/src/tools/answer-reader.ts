import type { TokenUsage } from '#platform/contracts';
import type { GenerationEvent } from '#engine/generation';
import { type CallReader, type ParsedPiece, partialEnd } from './call-stream.js';

/** The marks before and after the reasoning of an answer. */
export type ThinkMarks = readonly [open: string, close: string];

const thinkMarks: ThinkMarks = ['<think>', '</think>'];

/** Marks of the models that engines serve without a parser of their reasoning. */
export const engineThinkMarks: readonly ThinkMarks[] = [
  thinkMarks,
  ['<thinking>', '</thinking>'],
  ['<thought>', '</thought>'],
  ['<reasoning>', '</reasoning>'],
  ['[THINK]', '[/THINK]'],
  ['<seed:think>', '</seed:think>'],
  ['◁think▷', '◁/think▷'],
  ['<|begin_of_thought|>', '<|end_of_thought|>'],
  // The channels of gpt-oss, if an engine shows its special tokens.
  ['<|channel|>analysis<|message|>', '<|end|><|start|>assistant<|channel|>final<|message|>'],
];

/** Longer than each closing mark. */
const maxMarkLength = 64;

/** How an engine gives the reasoning that it does not separate from the text; corrected by its answers. */
export interface ThoughtForm {
  /** Answers begin within the reasoning, and only its end has a mark. */
  begin: boolean;
  /** Not to be corrected. */
  isKnown?: boolean;
}

/** Where an answer's reasoning begins, if no mark in the answer says it. */
export interface ThoughtStart {
  /** The answer begins within the reasoning: the prompt ended with the opening mark, or the model usually does so. */
  opened: boolean;
  /**
   * The whole answer is read before any of it is shown, so that a closing mark without an opening one also ends
   * reasoning.
   */
  waits?: boolean;
}

/** Separates reasoning from text: `<think>…</think>` at the beginning of an answer. */
export class ThinkSplitter {
  #buffer = '';
  #state: 'start' | 'thinking' | 'saying';
  /** Closing marks that end the reasoning. */
  #closes: readonly string[];
  /** The reasoning has no opening mark in the answer. */
  #isUnmarked: boolean;
  #thought = '';
  #waits: boolean;
  /** Number of characters of the buffer without a closing mark. */
  #searched = 0;
  #beginsInside: boolean | undefined;
  /** At the beginning of a part, where space is dropped. */
  #fresh = true;

  constructor(
    { opened, waits = false }: ThoughtStart,
    private readonly marks: readonly ThinkMarks[] = [thinkMarks],
  ) {
    this.#state = opened ? 'thinking' : 'start';
    this.#isUnmarked = opened;
    this.#waits = waits;
    this.#closes = marks.map(([, close]) => close);
  }

  get thinking(): boolean {
    return this.#state === 'thinking';
  }

  /** Whether the answer began within its reasoning; undefined if it does not show it. */
  get beginsInside(): boolean | undefined {
    return this.#beginsInside;
  }

  /** The engine separates the reasoning itself, so that no text is reasoning. */
  separated(): void {
    this.#waits = false;
    this.#beginsInside = false;
    if (this.#isUnmarked && this.#state === 'thinking' && this.#thought === '') this.#state = 'saying';
  }

  push(text: string): { text: string; reasoning: string } {
    this.#buffer += text;
    if (this.#state === 'start' && !this.#decide()) return { text: '', reasoning: '' };
    const reasoning = this.#state === 'thinking' ? this.#think() : '';
    return { text: this.#state === 'saying' ? this.#take(this.#buffer.length) : '', reasoning };
  }

  /**
   * Ends the answer and returns its rest. `isCut`: its limit ended it. An answer that ends by itself without the mark of
   * the end of its reasoning has none: all of it is the text, if no mark says that it began.
   */
  end(isCut = false): { text: string; reasoning: string } {
    const rest = this.#buffer;
    this.#buffer = '';
    if (!this.thinking) return { text: rest, reasoning: '' };
    if (this.#isUnmarked && !isCut) {
      this.#beginsInside = false;
      return { text: (this.#thought + rest).trim(), reasoning: '' };
    }
    return { text: '', reasoning: rest.trimEnd() };
  }

  /** Decides whether the answer begins with reasoning; returns false where more text is needed. */
  #decide(): boolean {
    const begun = this.#buffer.trimStart();
    if (this.marks.some(([open]) => begun.length < open.length && open.startsWith(begun))) return false;
    const opened = this.marks.find(([open]) => begun.startsWith(open));
    if (opened) {
      this.#buffer = begun.slice(opened[0].length);
      this.#closes = [opened[1]];
      this.#beginsInside = false;
    } else if (this.#waits) {
      const from = Math.max(0, this.#searched - maxMarkLength);
      this.#searched = this.#buffer.length;
      if (!this.#closes.some((close) => findUnquoted(this.#buffer, close, from) >= 0)) return false;
      this.#isUnmarked = true;
    }
    const isThinking = opened !== undefined || this.#isUnmarked;
    this.#fresh = isThinking;
    this.#state = isThinking ? 'thinking' : 'saying';
    return true;
  }

  #think(): string {
    const ends = this.#closes.flatMap((close) => {
      const at = this.#isUnmarked ? findUnquoted(this.#buffer, close) : this.#buffer.indexOf(close);
      return at < 0 ? [] : [{ at, close }];
    });
    const [first] = ends.toSorted((one, other) => one.at - other.at);
    if (!first) {
      const held = Math.max(...this.#closes.map((close) => partialEnd(this.#buffer, close)));
      const free = this.#buffer.slice(0, this.#buffer.length - held).trimEnd();
      return this.#noted(this.#take(free.length));
    }
    const thought = this.#noted(this.#take(first.at).trimEnd());
    this.#buffer = this.#buffer.slice(first.close.length);
    this.#state = 'saying';
    if (this.#isUnmarked) this.#beginsInside = true;
    this.#fresh = true;
    return thought;
  }

  #noted(thought: string): string {
    if (this.#isUnmarked) this.#thought += thought;
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

/** The place of a mark that is not a quotation: text about the mark has it in quotes or backticks. */
function findUnquoted(text: string, mark: string, from = 0): number {
  for (let at = text.indexOf(mark, from); at >= 0; at = text.indexOf(mark, at + 1))
    if (!/["'`]/.test(text[at - 1] ?? '')) return at;
  return -1;
}

type Logprobs = NonNullable<GenerationEvent['logprobs']>;

/** Reads one answer and separates reasoning, text and calls. */
export class AnswerReader {
  #held: Logprobs = [];
  #reasoningTokens = 0;

  constructor(
    private readonly thoughts: ThinkSplitter | undefined,
    private readonly calls: CallReader | undefined,
    /** Gets the form of the reasoning that the answer shows. */
    private readonly form?: ThoughtForm,
  ) {}

  /** Number of the tokens of its reasoning. */
  get reasoningTokens(): number {
    return this.#reasoningTokens;
  }

  read(event: GenerationEvent): GenerationEvent {
    const { logprobs, finishReason, ...rest } = event;
    if (event.reasoning) this.#separated();
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

  /** The engine separates reasoning from text. */
  #separated(): void {
    this.thoughts?.separated();
    if (this.form) Object.assign(this.form, { begin: false, isKnown: false });
  }

  #split({ text, tokenIds, finishReason }: GenerationEvent): { text: string; reasoning: string } {
    if (!this.thoughts) return { text, reasoning: '' };
    // A piece of an engine without token ids is about one token.
    if (this.thoughts.thinking) this.#reasoningTokens += tokenIds.length || (text === '' ? 0 : 1);
    const piece = this.thoughts.push(text);
    if (!finishReason) return piece;
    const rest = this.thoughts.end(finishReason === 'length');
    const { beginsInside } = this.thoughts;
    if (this.form && !this.form.isKnown && beginsInside !== undefined) this.form.begin = beginsInside;
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

/**
 * Reads each answer of a generation separately. Leaves empty events out, unless they show the progress of an answer that
 * is held back (`keepsEmpty`).
 */
export async function* readAnswers(
  events: AsyncIterable<GenerationEvent>,
  newReader: () => AnswerReader,
  { keepsEmpty = false }: { keepsEmpty?: boolean } = {},
): AsyncGenerator<GenerationEvent, void, void> {
  const readers = new Map<number, AnswerReader>();
  for await (const event of events) {
    const reader = readers.get(event.choice) ?? newReader();
    readers.set(event.choice, reader);
    const read = reader.read(event);
    const reasoningTokens = [...readers.values()].reduce((sum, each) => sum + each.reasoningTokens, 0);
    const { text, reasoning, toolCalls, logprobs, finishReason, usage, prompt } = read;
    const isEmpty = text === '' && !(reasoning ?? toolCalls ?? logprobs ?? finishReason ?? usage ?? prompt);
    if (isEmpty && !keepsEmpty) continue;
    yield usage && reasoningTokens > 0 ? { ...read, usage: withReasoning(usage, reasoningTokens) } : read;
  }
}

function withReasoning(usage: TokenUsage, estimated: number): TokenUsage {
  return { ...usage, reasoningTokens: usage.reasoningTokens ?? Math.min(estimated, usage.completionTokens) };
}
