import type { Tool } from '#contracts';
import type { CallReader, CallReaderOptions, ParsedPiece } from './call-reader.js';
import { textBefore } from './marks.js';

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
