import type { Tool } from '#contracts';
import type { CallReader, CallReaderOptions, ParsedPiece } from './call-reader.js';
import { textBefore } from './free-text.js';
import { rawInputName } from './raw-input.js';

const functionMark = '<function=';
const header = /^(?:<tool_call>)?\s*<function=([^<>\n]+)>\s*/;
/** What may still become one. */
const unfinishedHeader =
  /^(?:<tool_call>)?\s*(?:<function=[^<>\n]*|<?(?:f(?:u(?:n(?:c(?:t(?:i(?:o(?:n)?)?)?)?)?)?)?)?)$/;
/** One parameter; its end may be missing before the next line that begins another one, or ends the call. */
const parameter =
  /^\s*<parameter=([^<>\n]+)>\n?([\s\S]*?)(?:\n?<\/parameter>|\n(?=<parameter=)|\n(?=<\/function>))/;
const parameterBegin = /^\s*<parameter=/;
const functionEnd = /^\s*<\/function>/;
const callEnd = '</tool_call>';

interface OpenCall {
  index: number;
  tool: Tool;
  parameters: number;
}

/** Reads calls as Qwen3-Coder writes them, in tags; arguments come out as JSON, parameter by parameter. */
export class XmlCallParser implements CallReader {
  #buffer = '';
  #state: 'text' | 'header' | 'parameters' | 'tail' = 'text';
  #call: OpenCall | undefined;
  #calls = 0;
  #afterCall = false;
  /** In front of the mark that is looked at. */
  #space = '';

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
    const isText = this.#state === 'text' || this.#state === 'header';
    if (isText && !(this.#buffer.trim() === '' && this.#calls > 0))
      this.#say(parsed, this.#space + this.#buffer);
    this.#buffer = '';
    return parsed;
  }

  #step(parsed: ParsedPiece): boolean {
    if (this.#buffer === '') return false;
    switch (this.#state) {
      case 'text':
        return this.#readText(parsed);
      case 'header':
        return this.#readHeader(parsed);
      case 'parameters':
        return this.#readParameters(parsed);
      default:
        return this.#readTail();
    }
  }

  #readText(parsed: ParsedPiece): boolean {
    const own = [this.options.format.marker, functionMark];
    const { text, from, mark, space } = textBefore(this.#buffer, [
      ...own,
      ...Object.values(this.options.marks ?? {}),
    ]);
    this.#say(parsed, text);
    this.#space = space;
    const isCall = mark !== undefined && own.includes(mark);
    this.#buffer = this.#buffer.slice(mark === undefined || isCall ? from : from + mark.length);
    if (isCall) this.#state = 'header';
    return mark !== undefined;
  }

  #readHeader(parsed: ParsedPiece): boolean {
    const found = header.exec(this.#buffer);
    if (!found && unfinishedHeader.test(this.#buffer)) return false;
    const tool = this.options.tools.get(found?.[1]?.trim() ?? '');
    if (!found || !tool) return this.#tellAsText(parsed);
    const index = this.#calls;
    this.#calls += 1;
    this.#space = '';
    this.#call = { index, tool, parameters: 0 };
    const id = this.options.newCallId();
    parsed.toolCalls.push({ index, id, name: tool.name, kind: tool.type, input: '' });
    this.#buffer = this.#buffer.slice(found[0].length);
    this.#state = 'parameters';
    return true;
  }

  #readParameters(parsed: ParsedPiece): boolean {
    const call = this.#call;
    if (!call) throw new Error('No call is open');
    const { index, tool } = call;
    // Looked for first, because a long parameter comes in many pieces.
    if (!this.#buffer.includes('</parameter>') && !this.#buffer.includes('</function>')) return false;
    const found = parameter.exec(this.#buffer);
    if (!found && parameterBegin.test(this.#buffer)) return false;
    if (found) {
      const [all, name = '', value = ''] = found;
      parsed.toolCalls.push({ index, input: inputOf(call, name.trim(), value) });
      call.parameters += 1;
      this.#buffer = this.#buffer.slice(all.length);
      return true;
    }
    const end = this.#buffer.indexOf('</function>');
    if (end === -1) return false;
    const between = this.#buffer.slice(0, end);
    if (tool.type === 'function') parsed.toolCalls.push({ index, input: call.parameters > 0 ? '}' : '{}' });
    else if (call.parameters === 0 && between.trim() !== '')
      parsed.toolCalls.push({ index, input: between.trimEnd() });
    this.#buffer = this.#buffer.slice(end).replace(functionEnd, '');
    this.#call = undefined;
    this.#state = 'tail';
    return true;
  }

  #readTail(): boolean {
    const rest = this.#buffer.trimStart();
    if (rest.length < callEnd.length && callEnd.startsWith(rest)) return false;
    this.#buffer = rest.startsWith(callEnd) ? rest.slice(callEnd.length) : rest;
    this.#afterCall = true;
    this.#state = 'text';
    return true;
  }

  /** The mark is no call's: its first character is text, and what follows is looked at anew. */
  #tellAsText(parsed: ParsedPiece): boolean {
    this.#say(parsed, this.#space + this.#buffer.slice(0, 1));
    this.#space = '';
    this.#buffer = this.#buffer.slice(1);
    this.#state = 'text';
    return true;
  }

  #say(parsed: ParsedPiece, text: string): void {
    const said = this.#afterCall ? text.trimStart() : text;
    if (said !== '') this.#afterCall = false;
    parsed.text += said;
  }
}

/** A parameter as a piece of the arguments' JSON; of a custom tool its one parameter is the input itself. */
function inputOf({ tool, parameters }: OpenCall, name: string, value: string): string {
  if (tool.type === 'custom') return name === rawInputName || parameters === 0 ? value : '';
  const written = JSON.stringify(valueOf(tool, name, value));
  return `${parameters === 0 ? '{' : ', '}${JSON.stringify(name)}: ${written}`;
}

/** Text where the tool says that it takes text there, otherwise whatever JSON it is; what is none is text. */
function valueOf(tool: Extract<Tool, { type: 'function' }>, name: string, value: string): unknown {
  const properties = (tool.parameters?.['properties'] ?? {}) as Record<
    string,
    { type?: unknown } | undefined
  >;
  const type = properties[name]?.type;
  if (type === 'string') return value;
  try {
    return JSON.parse(value) as unknown;
  } catch {
    return value;
  }
}
