import type { Tool } from '#platform/contracts';
import { CallStream, type CallReaderOptions, type ParsedPiece } from './call-stream.js';
import { rawInputName } from './raw-input.js';

const functionMark = '<function=';
const header = /^(?:<tool_call>)?\s*<function=([^<>\n]+)>\s*/;
/** A possible beginning of a header. */
const unfinishedHeader =
  /^(?:<tool_call>)?\s*(?:<function=[^<>\n]*|<?(?:f(?:u(?:n(?:c(?:t(?:i(?:o(?:n)?)?)?)?)?)?)?)?)$/;
/** One parameter. Its end tag may be missing before a line that begins the next parameter or ends the call. */
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

/** Reads calls in the tags of Qwen3-Coder, and converts their arguments to JSON, parameter by parameter. */
export class XmlCallParser extends CallStream {
  #call: OpenCall | undefined;

  constructor(options: CallReaderOptions) {
    super(options, [options.format.marker, functionMark]);
  }

  protected readHeader(parsed: ParsedPiece): boolean {
    const found = header.exec(this.buffer);
    if (!found && unfinishedHeader.test(this.buffer)) return false;
    const tool = this.options.tools.get(found?.[1]?.trim() ?? '');
    if (!found || !tool) return this.tellAsText(parsed, 1);
    const index = this.beginCall(parsed, tool, this.buffer.slice(found[0].length));
    this.#call = { index, tool, parameters: 0 };
    return true;
  }

  protected readArguments(parsed: ParsedPiece): boolean {
    const call = this.#call;
    if (!call) throw new Error('No call is open');
    const { index, tool } = call;
    // Checked first, because a long parameter arrives in many pieces.
    if (!this.buffer.includes('</parameter>') && !this.buffer.includes('</function>')) return false;
    const found = parameter.exec(this.buffer);
    if (!found && parameterBegin.test(this.buffer)) return false;
    if (found) {
      const [all, name = '', value = ''] = found;
      parsed.toolCalls.push({ index, input: inputOf(call, name.trim(), value) });
      call.parameters += 1;
      this.buffer = this.buffer.slice(all.length);
      return true;
    }
    const end = this.buffer.indexOf('</function>');
    if (end === -1) return false;
    const between = this.buffer.slice(0, end);
    if (tool.type === 'function') parsed.toolCalls.push({ index, input: call.parameters > 0 ? '}' : '{}' });
    else if (call.parameters === 0 && between.trim() !== '')
      parsed.toolCalls.push({ index, input: between.trimEnd() });
    this.buffer = this.buffer.slice(end).replace(functionEnd, '');
    this.#call = undefined;
    this.state = 'tail';
    return true;
  }

  protected readTail(): boolean {
    const rest = this.buffer.trimStart();
    if (rest.length < callEnd.length && callEnd.startsWith(rest)) return false;
    this.endCall(rest.startsWith(callEnd) ? rest.slice(callEnd.length) : rest);
    return true;
  }
}

/** A parameter as a piece of the arguments' JSON. The only parameter of a custom tool is the input itself. */
function inputOf({ tool, parameters }: OpenCall, name: string, value: string): string {
  if (tool.type === 'custom') return name === rawInputName || parameters === 0 ? value : '';
  const written = JSON.stringify(valueOf(tool, name, value));
  return `${parameters === 0 ? '{' : ', '}${JSON.stringify(name)}: ${written}`;
}

/** The value as text where the tool declares a string, otherwise as JSON; text where the JSON is invalid. */
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
