import type { Tool, ToolCallDelta } from '#contracts';
import { JsonValueScanner } from './json-value-scanner.js';
import { RawInput } from './raw-input.js';
import type { ToolFormat } from './tool-format.js';

/** What a piece of text turned out to be. */
export interface ParsedPiece {
  text: string;
  toolCalls: ToolCallDelta[];
}

const header = /^\s*\{\s*"name"\s*:\s*("(?:[^"\\]|\\.)*")\s*,\s*"(?:arguments|parameters)"\s*:\s*(?=\S)/;

interface OpenCall {
  index: number;
  scanner: JsonValueScanner;
  raw?: RawInput;
}

/**
 * Finds the calls in an answer while it is written. No part of a call is ever let through as text; what looks like one
 * and is none (no JSON, an unknown name) is told as the text that it is.
 */
export class CallParser {
  #buffer = '';
  #state: 'text' | 'header' | 'arguments' | 'tail' = 'text';
  #call: OpenCall | undefined;
  #calls = 0;
  /** A call has just ended: the space between it and what follows belongs to neither. */
  #afterCall = false;
  readonly #marker: string;

  /** `tools` by the name that the model uses; `newCallId` names calls; `marks` stand around an answer and go. */
  constructor(
    private readonly format: ToolFormat,
    private readonly tools: ReadonlyMap<string, Tool>,
    private readonly newCallId: () => string,
    private readonly marks?: { open: string; close: string },
  ) {
    this.#marker = format.open.trimEnd();
  }

  /** Calls begun so far. */
  get calls(): number {
    return this.#calls;
  }

  push(text: string): ParsedPiece {
    this.#buffer += text;
    const parsed: ParsedPiece = { text: '', toolCalls: [] };
    while (this.#step(parsed));
    return parsed;
  }

  /** The answer has ended: what was held back because it might have become a call. */
  end(): ParsedPiece {
    const parsed: ParsedPiece = { text: '', toolCalls: [] };
    if (this.#state === 'text' || this.#state === 'header') {
      const isSpace = this.#buffer.trim() === '';
      if (!(isSpace && this.#calls > 0)) this.#say(parsed, this.#buffer);
    }
    this.#buffer = '';
    return parsed;
  }

  /** Takes what it can from the buffer; false where more must come first. */
  #step(parsed: ParsedPiece): boolean {
    if (this.#buffer === '') return false;
    switch (this.#state) {
      case 'text':
        return this.#readText(parsed);
      case 'header':
        return this.#readHeader(parsed);
      case 'arguments':
        return this.#readArguments(parsed);
      default:
        return this.#readTail();
    }
  }

  #readText(parsed: ParsedPiece): boolean {
    const marks = [this.#marker, ...Object.values(this.marks ?? {})];
    const next = firstOf(this.#buffer, marks);
    if (next) {
      const { at, mark } = next;
      const isCall = mark === this.#marker;
      this.#say(parsed, this.#buffer.slice(0, at).trimEnd());
      this.#buffer = this.#buffer.slice(isCall ? at : at + mark.length);
      if (isCall) this.#state = 'header';
      return true;
    }
    const held = Math.max(...marks.map((mark) => partialEnd(this.#buffer, mark)));
    const free = this.#buffer.slice(0, this.#buffer.length - held).trimEnd();
    this.#say(parsed, free);
    this.#buffer = this.#buffer.slice(free.length);
    return false;
  }

  #readHeader(parsed: ParsedPiece): boolean {
    const body = this.#buffer.slice(Math.min(this.format.prefix, this.#marker.length));
    const found = header.exec(body);
    if (found) return this.#begin(parsed, nameOf(found[1]), body.slice(found[0].length));
    const scanner = new JsonValueScanner();
    const length = scanner.push(body);
    const mayBecomeOne = body.trim() === '' || body.trimStart().startsWith('{');
    if (mayBecomeOne && !scanner.done) return false;
    const whole = mayBecomeOne ? wholeCall(body.slice(0, length)) : undefined;
    if (!whole) return this.#tellAsText(parsed);
    // The arguments stood before the name.
    return this.#begin(parsed, whole.name, `${whole.input}}${body.slice(length)}`);
  }

  #begin(parsed: ParsedPiece, name: string | undefined, rest: string): boolean {
    const tool = name === undefined ? undefined : this.tools.get(name);
    if (!tool) return this.#tellAsText(parsed);
    const index = this.#calls;
    this.#calls += 1;
    const custom = tool.type === 'custom';
    this.#call = { index, scanner: new JsonValueScanner(), ...(custom && { raw: new RawInput() }) };
    parsed.toolCalls.push({ index, id: this.newCallId(), name: tool.name, kind: tool.type, input: '' });
    this.#buffer = rest;
    this.#state = 'arguments';
    return true;
  }

  #readArguments(parsed: ParsedPiece): boolean {
    const call = this.#call;
    if (!call) throw new Error('No call is open');
    const length = call.scanner.push(this.#buffer);
    const piece = this.#buffer.slice(0, length);
    this.#buffer = this.#buffer.slice(length);
    const ended = call.scanner.done;
    const input = call.raw ? call.raw.push(piece) + (ended ? call.raw.end() : '') : piece;
    if (input !== '') parsed.toolCalls.push({ index: call.index, input });
    if (ended) this.#state = 'tail';
    return ended;
  }

  /** The closing brace and mark; what stands there instead is text. */
  #readTail(): boolean {
    const close = this.format.close.trim();
    const [before] = /^\s*\}?\s*/.exec(this.#buffer) ?? [''];
    const rest = this.#buffer.slice(before.length);
    const complete = before.includes('}') && rest.startsWith(close);
    if (!complete && close.startsWith(rest)) return false;
    this.#buffer = rest.startsWith(close) ? rest.slice(close.length) : rest;
    this.#call = undefined;
    this.#afterCall = true;
    this.#state = 'text';
    return true;
  }

  #tellAsText(parsed: ParsedPiece): boolean {
    this.#say(parsed, this.#buffer.slice(0, this.#marker.length));
    this.#buffer = this.#buffer.slice(this.#marker.length);
    this.#state = 'text';
    return true;
  }

  #say(parsed: ParsedPiece, text: string): void {
    const said = this.#afterCall ? text.trimStart() : text;
    if (said !== '') this.#afterCall = false;
    parsed.text += said;
  }
}

/** The first of the marks in a text, and where it stands. */
function firstOf(text: string, marks: readonly string[]): { at: number; mark: string } | undefined {
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

function nameOf(json: string | undefined): string | undefined {
  try {
    return JSON.parse(json ?? '') as string;
  } catch {
    return undefined;
  }
}

function wholeCall(json: string): { name: string; input: string } | undefined {
  try {
    const { name, arguments: given, parameters } = JSON.parse(json) as Record<string, unknown>;
    return typeof name === 'string' ? { name, input: JSON.stringify(given ?? parameters ?? {}) } : undefined;
  } catch {
    return undefined;
  }
}
