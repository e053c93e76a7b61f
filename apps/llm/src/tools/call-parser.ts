import { CallStream, type CallReaderOptions, type ParsedPiece } from './call-stream.js';
import { RawInput } from './raw-input.js';

const header = /^\s*\{\s*"name"\s*:\s*("(?:[^"\\]|\\.)*")\s*,\s*"(?:arguments|parameters)"\s*:\s*(?=\S)/;
/** `name[ARGS]`; some models put the call's id before `[ARGS]`. */
const argsHeader = /^\s*([\w.:-]+)\s*(?:\[CALL_ID\]\s*\w*\s*)?\[ARGS\]\s*(?=\S)/;
const maxArgsHeaderLength = 256;
/** Text between the arguments and the end of a call: Mistral's models write an id there. */
const tail = /^\s*(?:,\s*"id"\s*:\s*"[^"]*"\s*)?\}?\s*/;
const unfinishedId = /^\s*,\s*(?:"(?:i(?:d(?:"\s*(?::\s*(?:"[^"]*)?)?)?)?)?)?$/;

interface OpenCall {
  index: number;
  scanner: JsonValueScanner;
  raw?: RawInput;
}

/** Reads calls whose arguments are JSON. */
export class CallParser extends CallStream {
  #call: OpenCall | undefined;
  /** After the first call of a list: the headers of the other calls have no mark. */
  #inList = false;

  constructor(options: CallReaderOptions) {
    super(options, [options.format.marker]);
  }

  /** Characters of the mark before the header; Llama's mark is the beginning of the JSON itself. */
  get #markLength(): number {
    const { open, marker } = this.options.format;
    return this.#inList || open === '' ? 0 : marker.length;
  }

  protected readHeader(parsed: ParsedPiece): boolean {
    const { name: format } = this.options.format;
    const marked = this.buffer.slice(this.#markLength);
    if (format === 'mistral-args') return this.#readArgsHeader(parsed, marked);
    const body = format === 'mistral' ? marked.replace(/^\s*\[/, '') : marked;
    const found = header.exec(body);
    if (found) return this.#begin(parsed, nameOf(found[1]), body.slice(found[0].length));
    const scanner = new JsonValueScanner();
    const length = scanner.push(body);
    const mayBecomeOne = body.trim() === '' || body.trimStart().startsWith('{');
    if (mayBecomeOne && !scanner.done) return false;
    const whole = mayBecomeOne ? wholeCall(body.slice(0, length)) : undefined;
    if (!whole) return this.#noCall(parsed);
    // The arguments stood before the name.
    return this.#begin(parsed, whole.name, `${whole.input}}${body.slice(length)}`);
  }

  #readArgsHeader(parsed: ParsedPiece, body: string): boolean {
    const found = argsHeader.exec(body);
    if (found) return this.#begin(parsed, found[1], body.slice(found[0].length));
    if (body.length < maxArgsHeaderLength && !/[{\n]/.test(body.trimStart())) return false;
    return this.#noCall(parsed);
  }

  #begin(parsed: ParsedPiece, name: string | undefined, rest: string): boolean {
    const tool = name === undefined ? undefined : this.options.tools.get(name);
    if (!tool) return this.#noCall(parsed);
    const index = this.beginCall(parsed, tool, rest);
    const custom = tool.type === 'custom';
    this.#call = { index, scanner: new JsonValueScanner(), ...(custom && { raw: new RawInput() }) };
    return true;
  }

  #noCall(parsed: ParsedPiece): boolean {
    const length = Math.max(this.#markLength, 1);
    this.#inList = false;
    return this.tellAsText(parsed, length);
  }

  protected readArguments(parsed: ParsedPiece): boolean {
    const call = this.#call;
    if (!call) throw new Error('No call is open');
    const length = call.scanner.push(this.buffer);
    const piece = this.buffer.slice(0, length);
    this.buffer = this.buffer.slice(length);
    const ended = call.scanner.done;
    const input = call.raw ? call.raw.push(piece) + (ended ? call.raw.end() : '') : piece;
    if (input !== '') parsed.toolCalls.push({ index: call.index, input });
    if (ended) this.state = 'tail';
    return ended;
  }

  /** Reads the closing brace and mark. Other content is text. */
  protected readTail(): boolean {
    const { format } = this.options;
    const close = format.close.trim();
    const isList = format.name === 'mistral';
    if (isList && unfinishedId.test(this.buffer)) return false;
    const [before] = tail.exec(this.buffer) ?? [''];
    const rest = this.buffer.slice(before.length);
    const complete = before.includes('}') && rest.startsWith(close);
    this.#inList = isList && before.includes('}') && rest.startsWith(',');
    if (!complete && !this.#inList && close.startsWith(rest)) return false;
    this.#call = undefined;
    if (this.#inList) {
      this.buffer = rest.slice(1);
      this.state = 'header';
    } else this.endCall(rest.startsWith(close) ? rest.slice(close.length) : rest);
    return true;
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

/** Finds the end of one JSON value in streamed text. */
class JsonValueScanner {
  #depth = 0;
  #inString = false;
  #escaped = false;
  #begun = false;
  #done = false;

  get done(): boolean {
    return this.#done;
  }

  /** Returns the number of characters of the piece that belong to the value, with the spaces before it. */
  push(piece: string): number {
    for (let index = 0; index < piece.length; index += 1) {
      if (this.#done) return index;
      const character = piece.charAt(index);
      if (!this.#begun && character.trim() === '') continue;
      // A number or a word ends at a space or a separator.
      if (this.#begun && this.#depth === 0 && !this.#inString && /[\s,}\]]/.test(character)) {
        this.#done = true;
        return index;
      }
      this.#take(character);
    }
    return piece.length;
  }

  #take(character: string): void {
    this.#begun = true;
    if (this.#inString) {
      if (this.#escaped) this.#escaped = false;
      else if (character === '\\') this.#escaped = true;
      else if (character === '"') this.#closeString();
    } else if (character === '"') this.#inString = true;
    else if (character === '{' || character === '[') this.#depth += 1;
    else if (character === '}' || character === ']') {
      this.#depth -= 1;
      this.#done = this.#depth <= 0;
    }
  }

  #closeString(): void {
    this.#inString = false;
    this.#done = this.#depth === 0;
  }
}
