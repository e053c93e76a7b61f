import type { Tool, ToolCallDelta } from '#contracts';
import type { ToolFormat } from './tool-format.js';

/**
 * Reads an answer that goes from text to a call's header, its arguments, its end, and to text again; a form of calls says
 * how it reads the last three. Each of these takes what it can from the buffer, and returns false where it needs more
 * text first. Text that looks like a call and is not a call is passed on as text.
 */
export abstract class CallStream implements CallReader {
  /** Text that was received and is not passed on yet. */
  protected buffer = '';
  protected state: 'text' | 'header' | 'arguments' | 'tail' = 'text';
  #calls = 0;
  /** A call has just ended: the space between it and what follows belongs to neither. */
  #afterCall = false;
  /** In front of the mark that is looked at. */
  #space = '';

  constructor(
    protected readonly options: CallReaderOptions,
    /** What a call begins with. */
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

  /** The header is read: tells the call, whose arguments begin with `rest`. Returns the call's index. */
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

  /** The call has ended, and text begins with `rest`. */
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

/** What a piece of text turned out to be. */
export interface ParsedPiece {
  text: string;
  toolCalls: ToolCallDelta[];
}

/** Finds the calls in an answer while it is written. No part of a call is ever let through as text. */
export interface CallReader {
  /** Calls begun so far. */
  readonly calls: number;
  push(text: string): ParsedPiece;
  /** The answer has ended: what was held back because it might have become a call. */
  end(): ParsedPiece;
}

export interface CallReaderOptions {
  format: ToolFormat;
  /** By the name that the model uses. */
  tools: ReadonlyMap<string, Tool>;
  newCallId: () => string;
  /** Marks around an answer, which are removed. */
  marks?: { open: string; close: string };
}

/** The first of the marks in a text, and where it stands. */
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
  /** Where the rest of the text begins, which is not passed on yet. */
  from: number;
  /** The whole mark at that place. */
  mark?: string;
  /** Space before that mark; it is text where the mark does not begin a call. */
  space: string;
}

/**
 * The text before the first mark. Without a mark, space at the end and the beginning of a possible mark are kept back: they
 * may belong to a call.
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
