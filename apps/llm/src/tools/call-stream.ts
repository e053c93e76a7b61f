import type { Tool, ToolCallDelta } from '#platform/contracts';
import type { ToolFormat } from './tool-format.js';

/**
 * Reads an answer that consists of text and of calls with a header, arguments and an end. Subclasses read these three
 * parts for their format. Each of these methods consumes the buffer as far as possible, and returns false where it
 * needs more text. Text that looks like a call and is not a call is passed on as text.
 */
export abstract class CallStream implements CallReader {
  /** Text that was received and is not passed on yet. */
  protected buffer = '';
  protected state: 'text' | 'header' | 'arguments' | 'tail' = 'text';
  #calls = 0;
  /** A call has just ended: the space between it and what follows belongs to neither. */
  #afterCall = false;
  /** Space before the current mark. */
  #space = '';

  constructor(
    protected readonly options: CallReaderOptions,
    /** Marks at the beginning of a call. */
    private readonly callMarks: readonly string[],
  ) {}

  protected abstract readHeader(parsed: ParsedPiece): boolean;
  protected abstract readArguments(parsed: ParsedPiece): boolean;
  protected abstract readTail(): boolean;

  get calls(): number {
    return this.#calls;
  }

  push(text: string): ParsedPiece {
    this.buffer += text;
    const parsed: ParsedPiece = { text: '', toolCalls: [] };
    while (this.#step(parsed));
    return parsed;
  }

  end(): ParsedPiece {
    const parsed: ParsedPiece = { text: '', toolCalls: [] };
    const isText = this.state === 'text' || this.state === 'header';
    if (isText && !(this.buffer.trim() === '' && this.#calls > 0))
      this.#say(parsed, this.#space + this.buffer);
    this.buffer = '';
    return parsed;
  }

  /** Begins a call after its header; its arguments begin with `rest`. Returns the call's index. */
  protected beginCall(parsed: ParsedPiece, tool: Tool, rest: string): number {
    const index = this.#calls;
    this.#calls += 1;
    this.#space = '';
    const id = this.options.newCallId();
    parsed.toolCalls.push({ index, id, name: tool.name, kind: tool.type, input: '' });
    this.buffer = rest;
    this.state = 'arguments';
    return index;
  }

  /** Ends the call; text begins with `rest`. */
  protected endCall(rest: string): void {
    this.buffer = rest;
    this.#afterCall = true;
    this.state = 'text';
  }

  /** The mark does not begin a call: its first characters are text, and the rest is read again. */
  protected tellAsText(parsed: ParsedPiece, length: number): true {
    this.#say(parsed, this.#space + this.buffer.slice(0, length));
    this.#space = '';
    this.buffer = this.buffer.slice(length);
    this.state = 'text';
    return true;
  }

  #step(parsed: ParsedPiece): boolean {
    if (this.buffer === '') return false;
    switch (this.state) {
      case 'text':
        return this.#readText(parsed);
      case 'header':
        return this.readHeader(parsed);
      case 'arguments':
        return this.readArguments(parsed);
      default:
        return this.readTail();
    }
  }

  #readText(parsed: ParsedPiece): boolean {
    const marks = [...this.callMarks, ...Object.values(this.options.marks ?? {})];
    const { text, from, mark, space } = textBefore(this.buffer, marks);
    this.#say(parsed, text);
    this.#space = space;
    const isCall = mark !== undefined && this.callMarks.includes(mark);
    this.buffer = this.buffer.slice(mark === undefined || isCall ? from : from + mark.length);
    if (isCall) this.state = 'header';
    return mark !== undefined;
  }

  #say(parsed: ParsedPiece, text: string): void {
    const said = this.#afterCall ? text.trimStart() : text;
    if (said !== '') this.#afterCall = false;
    parsed.text += said;
  }
}

/** The text and the calls in a piece of the answer. */
export interface ParsedPiece {
  text: string;
  toolCalls: ToolCallDelta[];
}

/** Finds the calls in an answer while it is written. Never passes a part of a call on as text. */
export interface CallReader {
  /** Calls begun so far. */
  readonly calls: number;
  push(text: string): ParsedPiece;
  /** Ends the answer. Returns the text that was held back as the possible beginning of a call. */
  end(): ParsedPiece;
}

export interface CallReaderOptions {
  format: ToolFormat;
  /** Tools by their names for the model. */
  tools: ReadonlyMap<string, Tool>;
  newCallId: () => string;
  /** Marks around an answer, which are removed. */
  marks?: { open: string; close: string };
}

/** The first mark in a text, and its index. */
export function firstOf(text: string, marks: readonly string[]): { at: number; mark: string } | undefined {
  const found = marks.map((mark) => ({ at: text.indexOf(mark), mark })).filter(({ at }) => at >= 0);
  return found.reduce<(typeof found)[number] | undefined>(
    (first, each) => (!first || each.at < first.at ? each : first),
    undefined,
  );
}

/** Characters at the end of a text that may be the beginning of a mark. */
export function partialEnd(text: string, mark: string): number {
  for (let length = Math.min(text.length, mark.length - 1); length > 0; length -= 1) {
    if (mark.startsWith(text.slice(-length))) return length;
  }
  return 0;
}

/** The part of an unfinished text that can be passed on, and the mark after it. */
export interface ToldText {
  text: string;
  /** Index of the rest of the text, which is not passed on yet. */
  from: number;
  /** The complete mark at that index. */
  mark?: string;
  /** Space before that mark; it is text where the mark does not begin a call. */
  space: string;
}

/**
 * The text before the first mark. Without a mark, space at the end and the beginning of a possible mark are kept back:
 * they may belong to a call.
 */
function textBefore(buffer: string, marks: readonly string[]): ToldText {
  const next = firstOf(buffer, marks);
  if (next) {
    const before = buffer.slice(0, next.at);
    const said = before.trimEnd();
    return { text: said, from: next.at, mark: next.mark, space: before.slice(said.length) };
  }
  const held = Math.max(...marks.map((mark) => partialEnd(buffer, mark)));
  const text = buffer.slice(0, buffer.length - held).trimEnd();
  return { text, from: text.length, space: '' };
}
