import type { TokenUsage, Tool, ToolCallDelta } from '#platform/contracts';
import type { GenerationEvent } from '#engine/generation';
import { BrokenFormError } from '../forms/ask-again.js';
import type { FormChecker } from '../forms/form-checker.js';
import type { TextForm } from '../forms/form-test.js';
import { FunctionInput } from './function-input.js';
import { RawInput } from './raw-input.js';

/** Requirements for the answers of an engine. */
export interface AnswerTerms {
  /** The tools that may be called. */
  readonly tools: readonly Tool[];
  /** The answer must contain a call. */
  readonly required: boolean;
  /** The answer may contain at most one call; the others are left out. */
  readonly single: boolean;
  /** The form of an answer without a call. */
  readonly form?: TextForm;
}

export interface NativeCallOptions {
  readonly terms: AnswerTerms;
  readonly forms: Pick<FormChecker, 'prepare' | 'wrongWith'>;
  readonly newCallId: () => string;
}

/**
 * Reads answers of an engine that finds the calls itself, and checks them against the request, because not every engine
 * complies. Custom tools are functions for the engine; their arguments become raw input again. Answers that were cut
 * off and refusals may have any form. Errors: {@link BrokenFormError}; invalid_request for an unsupported form.
 */
export async function* readNativeCalls(
  events: AsyncIterable<GenerationEvent>,
  options: NativeCallOptions,
): AsyncGenerator<GenerationEvent, void, void> {
  const { terms, forms } = options;
  if (terms.form) await forms.prepare(terms.form);
  for (const tool of terms.tools) {
    const form = inputForm(tool);
    if (form && form.type !== 'json_object') await forms.prepare(form);
  }
  const answers = new Map<number, NativeAnswer>();
  for await (const event of events) {
    const answer = answers.get(event.choice) ?? new NativeAnswer(options);
    answers.set(event.choice, answer);
    yield event.finishReason ? await answer.end(event) : answer.read(event);
  }
}

interface OpenCall {
  readonly index: number;
  readonly id: string;
  /** The engine's id of the call. */
  readonly engineId?: string;
  readonly tool: Tool;
  json: string;
  readonly reader: RawInput | FunctionInput;
  /** The input so far. */
  input: string;
  /** A call beyond the allowed number, which is left out. */
  readonly isExtra: boolean;
}

class NativeAnswer {
  readonly #calls: OpenCall[] = [];
  /** The latest call at each index of the engine. */
  readonly #places = new Map<number, OpenCall>();
  /** Beginnings of names, which some engines send in pieces, at each index of the engine. */
  readonly #names = new Map<number, Pick<ToolCallDelta, 'id' | 'name'>>();
  #text = '';
  #refuses = false;

  constructor(private readonly options: NativeCallOptions) {}

  read(event: GenerationEvent): GenerationEvent {
    this.#text += event.text;
    this.#refuses ||= event.refusal === true;
    if (!event.toolCalls) return event;
    const toolCalls = event.toolCalls.flatMap((piece) => this.#take(piece, event.usage));
    const { toolCalls: _engines, ...rest } = event;
    return toolCalls.length > 0 ? { ...rest, toolCalls } : rest;
  }

  /** Reads the last event: checks the whole answer and returns the rest of the calls. */
  async end(event: GenerationEvent): Promise<GenerationEvent> {
    const read = this.read(event);
    for (const [index, begun] of this.#names) this.#begin({ index, ...begun, input: '' }, event.usage);
    const calls = this.#calls.filter(({ isExtra }) => !isExtra);
    const rest = calls.flatMap(restOf);
    for (const { index, input } of rest) calls[index]!.input += input;
    const isCutOff = event.finishReason === 'length' || event.finishReason === 'content_filter';
    const wrong = isCutOff || this.#refuses ? undefined : await this.#wrongWith(calls);
    if (wrong !== undefined) throw new BrokenFormError(wrong, event.usage);
    const toolCalls = [...(read.toolCalls ?? []), ...rest];
    return {
      ...read,
      ...(toolCalls.length > 0 && { toolCalls }),
      // Some engines end an answer with calls as `stop`.
      ...(event.finishReason === 'stop' && calls.length > 0 && { finishReason: 'tool_calls' as const }),
    };
  }

  #take(given: ToolCallDelta, usage: TokenUsage | undefined): ToolCallDelta[] {
    const piece = this.#withWholeName(given);
    if (!piece) return [];
    const open = this.#places.get(piece.index);
    const call = open && goesOn(open, piece) ? open : this.#begin(piece, usage);
    call.json += piece.input;
    if (call.isExtra) return [];
    const input = call.reader.push(piece.input);
    call.input += input;
    if (call === open) return [{ index: call.index, input }];
    return [{ index: call.index, id: call.id, name: call.tool.name, kind: call.tool.type, input }];
  }

  /** The piece with the name so far; undefined while the name is only the beginning of the name of a tool. */
  #withWholeName(piece: ToolCallDelta): ToolCallDelta | undefined {
    const begun = this.#names.get(piece.index);
    if (!begun && piece.name === undefined) return piece;
    const name = (begun?.name ?? '') + (piece.name ?? '');
    const whole = { ...piece, id: begun?.id ?? piece.id, name };
    const { tools } = this.options.terms;
    const isBeginning =
      piece.input === '' &&
      tools.some((tool) => tool.name.startsWith(name)) &&
      !tools.some((tool) => tool.name === name);
    if (isBeginning) this.#names.set(piece.index, { id: whole.id, name });
    else this.#names.delete(piece.index);
    return isBeginning ? undefined : whole;
  }

  #begin({ index: place, id, name }: ToolCallDelta, usage: TokenUsage | undefined): OpenCall {
    const { terms, newCallId } = this.options;
    if (name === undefined) throw new BrokenFormError('wrote a call without the name of a tool', usage);
    const tool = terms.tools.find((one) => one.name === name);
    if (!tool) {
      const among = terms.tools.length > 0 ? 'is not among the tools that it may call' : 'it may not call';
      throw new BrokenFormError(`called ${JSON.stringify(name.slice(0, 100))}, which ${among}`, usage);
    }
    const index = this.#calls.length;
    const isTaken = this.#calls.some((call) => call.id === id);
    const call: OpenCall = {
      index,
      id: id === undefined || isTaken ? newCallId() : id,
      ...(id !== undefined && { engineId: id }),
      tool,
      json: '',
      input: '',
      reader: tool.type === 'custom' ? new RawInput() : new FunctionInput(tool),
      isExtra: terms.single && index > 0,
    };
    this.#calls.push(call);
    this.#places.set(place, call);
    return call;
  }

  async #wrongWith(calls: readonly OpenCall[]): Promise<string | undefined> {
    const { terms, forms } = this.options;
    for (const { tool, input } of calls) {
      const form = inputForm(tool);
      const wrong = form && (await forms.wrongWith(form, input));
      if (wrong === undefined) continue;
      const what = tool.type === 'custom' ? 'an input that is' : 'arguments that are';
      return `called ${tool.name} with ${what} wrong: ${wrong}`;
    }
    if (calls.length > 0) return undefined;
    if (terms.required) return 'called no tool, although it had to';
    const wrong = terms.form && (await forms.wrongWith(terms.form, this.#text));
    return wrong === undefined ? undefined : `does not have the form that was asked for: ${wrong}`;
  }
}

/** Whether a piece belongs to a call: some engines repeat name and id in each piece, others use one index for all. */
function goesOn({ tool, engineId, json }: OpenCall, { id, name }: ToolCallDelta): boolean {
  if (name === undefined) return true;
  if (name !== tool.name) return false;
  return id === undefined ? !isWhole(json) : id === engineId;
}

/** The last piece of a call at the end of its answer. */
function restOf({ index, reader }: OpenCall): ToolCallDelta[] {
  const input = reader.end();
  return input === '' ? [] : [{ index, input }];
}

/** Form of a tool's input: the schema of a strict function, any object of another one, the grammar of a custom tool. */
function inputForm(tool: Tool): TextForm | undefined {
  if (tool.type === 'custom') {
    if (!tool.grammar) return undefined;
    const { syntax, definition } = tool.grammar;
    const { at } = tool;
    return syntax === 'lark'
      ? { type: 'lark', lark: definition, at }
      : { type: 'regex', pattern: definition, at };
  }
  if (tool.strict && tool.parameters) return { type: 'json_schema', schema: tool.parameters, at: tool.at };
  return { type: 'json_object' };
}

function isWhole(json: string): boolean {
  try {
    JSON.parse(json);
    return true;
  } catch {
    return false;
  }
}
