import type { Tool } from '#contracts';
import type { CallReader, CallReaderOptions, ParsedPiece } from './call-reader.js';
import { textBefore } from './free-text.js';
import { JsonValueScanner } from './json-value-scanner.js';
import { RawInput } from './raw-input.js';

const header = /^\s*\{\s*"name"\s*:\s*("(?:[^"\\]|\\.)*")\s*,\s*"(?:arguments|parameters)"\s*:\s*(?=\S)/;
/** `name[ARGS]`; some models put the call's id between. */
const argsHeader = /^\s*([\w.:-]+)\s*(?:\[CALL_ID\]\s*\w*\s*)?\[ARGS\]\s*(?=\S)/;
const longestArgsHeader = 256;
/** What may stand between the arguments and the end of a call: Mistral's models write an id there. */
const tail = /^\s*(?:,\s*"id"\s*:\s*"[^"]*"\s*)?\}?\s*/;
const unfinishedId = /^\s*,\s*(?:"(?:i(?:d(?:"\s*(?::\s*(?:"[^"]*)?)?)?)?)?)?$/;

interface OpenCall {
  index: number;
  scanner: JsonValueScanner;
  raw?: RawInput;
}

/**
 * Reads calls whose arguments are JSON. What looks like a call and is none (no JSON, an unknown name) is told as the
 * text that it is.
 */
export class CallParser implements CallReader {
  #buffer = '';
  #state: 'text' | 'header' | 'arguments' | 'tail' = 'text';
  #call: OpenCall | undefined;
  #calls = 0;
  /** A call has just ended: the space between it and what follows belongs to neither. */
  #afterCall = false;
  /** In front of the mark that is looked at. */
  #space = '';
  /** Characters of the mark in front of the header: none in a list of calls behind its first. */
  #markLength = 0;

  constructor(private readonly options: CallReaderOptions) {}

  get calls(): number {
    return this.#calls;
  }

  push(text: string): ParsedPiece {
    this.#buffer += text;
    const parsed: ParsedPiece = { text: '', toolCalls: [] };
    while (this.#step(parsed));
    return parsed;
  }

  end(): ParsedPiece {
    const parsed: ParsedPiece = { text: '', toolCalls: [] };
    if (this.#state === 'text' || this.#state === 'header') {
      const isSpace = this.#buffer.trim() === '';
      if (!(isSpace && this.#calls > 0)) this.#say(parsed, this.#space + this.#buffer);
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
    const { marks, format } = this.options;
    const { marker } = format;
    const { text, from, mark, space } = textBefore(this.#buffer, [marker, ...Object.values(marks ?? {})]);
    this.#say(parsed, text);
    this.#space = space;
    this.#buffer = this.#buffer.slice(mark === undefined || mark === marker ? from : from + mark.length);
    if (mark === marker) {
      this.#state = 'header';
      // Llama's mark is the beginning of the JSON itself.
      this.#markLength = format.open === '' ? 0 : marker.length;
    }
    return mark !== undefined;
  }

  #readHeader(parsed: ParsedPiece): boolean {
    const { name: format } = this.options.format;
    const marked = this.#buffer.slice(this.#markLength);
    if (format === 'mistral-args') return this.#readArgsHeader(parsed, marked);
    const body = format === 'mistral' ? marked.replace(/^\s*\[/, '') : marked;
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

  #readArgsHeader(parsed: ParsedPiece, body: string): boolean {
    const found = argsHeader.exec(body);
    if (found) return this.#begin(parsed, found[1], body.slice(found[0].length));
    if (body.length < longestArgsHeader && !/[{\n]/.test(body.trimStart())) return false;
    return this.#tellAsText(parsed);
  }

  #begin(parsed: ParsedPiece, name: string | undefined, rest: string): boolean {
    const tool: Tool | undefined = name === undefined ? undefined : this.options.tools.get(name);
    if (!tool) return this.#tellAsText(parsed);
    const index = this.#calls;
    this.#calls += 1;
    this.#space = '';
    const custom = tool.type === 'custom';
    this.#call = { index, scanner: new JsonValueScanner(), ...(custom && { raw: new RawInput() }) };
    const id = this.options.newCallId();
    parsed.toolCalls.push({ index, id, name: tool.name, kind: tool.type, input: '' });
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
    const { format } = this.options;
    const close = format.close.trim();
    const isList = format.name === 'mistral';
    if (isList && unfinishedId.test(this.#buffer)) return false;
    const [before] = tail.exec(this.#buffer) ?? [''];
    const rest = this.#buffer.slice(before.length);
    const complete = before.includes('}') && rest.startsWith(close);
    const goesOn = isList && before.includes('}') && rest.startsWith(',');
    if (!complete && !goesOn && close.startsWith(rest)) return false;
    this.#call = undefined;
    if (goesOn) {
      this.#buffer = rest.slice(1);
      this.#markLength = 0;
      this.#state = 'header';
      return true;
    }
    this.#buffer = rest.startsWith(close) ? rest.slice(close.length) : rest;
    this.#afterCall = true;
    this.#state = 'text';
    return true;
  }

  #tellAsText(parsed: ParsedPiece): boolean {
    const length = Math.max(this.#markLength, 1);
    this.#say(parsed, this.#space + this.#buffer.slice(0, length));
    this.#space = '';
    this.#buffer = this.#buffer.slice(length);
    this.#state = 'text';
    return true;
  }

  #say(parsed: ParsedPiece, text: string): void {
    const said = this.#afterCall ? text.trimStart() : text;
    if (said !== '') this.#afterCall = false;
    parsed.text += said;
  }
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
