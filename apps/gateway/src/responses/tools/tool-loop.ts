import type {
  ChatMessage,
  GenerationChunk,
  RetrievedDocument,
  Tool,
  ToolCall,
  ToolCallDelta,
  ToolChoice,
} from '#contracts';
import {
  modelTools,
  type CallTarget,
  type MachineStep,
  type ResponseObject,
  type ResponseTool,
  type ToolStep,
} from '#responses';
import {
  toolMessage,
  withinImageLimit,
  type ServerTool,
  type ServerToolSource,
  type ToolContext,
  type ToolOutcome,
} from './server-tool.js';
import { choosableTargets, laterChoice, narrowed, toolChoice, type Choosable } from './plan-tools.js';

/** Generations of one response; the last one has no server tools any more, so that it ends in an answer. */
const mostTurns = 32;

/** One generation of a response. */
export interface GenerationTurn {
  messages: ChatMessage[];
  tools: Tool[];
  toolChoice?: ToolChoice;
  /** Passages to answer from and to cite. */
  documents: RetrievedDocument[];
  /** From 0. */
  number: number;
}

export interface ToolLoopOptions {
  response: ResponseObject;
  context: Omit<ToolContext, 'documents' | 'response'>;
  /** The model calls tools; for one that does not, only those are opened that work without a call. */
  callsTools: boolean;
  findSource: (type: string) => ServerToolSource | undefined;
  generate: (turn: GenerationTurn) => AsyncIterable<GenerationChunk>;
}

interface NamedTool extends Choosable {
  tool: ServerTool;
  definition: Tool;
}

/**
 * Makes a response with its tools: opens those that the server runs, generates, runs what the model calls of them, tells
 * it the results and generates again, until it answers in words, calls a tool of the caller's, or a call needs approval.
 * After `max_tool_calls` calls the server's tools are no longer offered. Leaving the loop ends what is under way.
 */
export async function* toolLoop(options: ToolLoopOptions): AsyncGenerator<MachineStep, void, void> {
  const { response, generate } = options;
  const all = modelTools(response.tools);
  const own = options.callsTools ? all : { ...all, tools: [], targets: new Map<string, CallTarget>() };
  const documents: RetrievedDocument[] = [];
  const context: ToolContext = { ...options.context, response, documents };
  const messages = [...context.messages];
  const opened = yield* openAll(own.others, options, { context, documents, messages, taken: own.targets });
  const { servers, done } = opened;
  const choosable = [...choosableTargets(own.targets), ...servers, ...done];
  const first: ToolChoice = options.callsTools
    ? toolChoice(response.tool_choice, choosable)
    : { mode: 'auto' };
  let left = response.max_tool_calls ?? Infinity;
  for (let number = 0; ; number += 1) {
    const offered = left > 0 && number < mostTurns - 1 ? servers : [];
    const tools = [...own.tools, ...offered.map(({ definition }) => definition)];
    const names = new Set(tools.map(({ name }) => name));
    const isFirst = number === 0 && done.length === 0;
    const wanted = isFirst ? first : laterChoice(response.tool_choice, first);
    const choice = narrowed(wanted, names);
    const byName = new Map(offered.map((tool) => [tool.modelName, tool]));
    const calls = new TurnCalls((name) => byName.has(name));
    const turn: GenerationTurn = {
      messages: withinImageLimit(messages),
      tools: choice ? tools : [],
      ...(choice && { toolChoice: choice }),
      documents: [...documents],
      number,
    };
    for await (const chunk of generate(turn)) yield { type: 'chunk', chunk: calls.take(chunk) };
    const wantedCalls = calls.serverCalls.slice(0, left);
    if (wantedCalls.length === 0) return;
    left -= wantedCalls.length;
    yield { type: 'turn_end' };
    messages.push(calls.message(wantedCalls));
    let waits = calls.hasClientCalls;
    for (const call of wantedCalls) {
      const outcome = yield* runCall(byName, call, context, documents);
      if (outcome.output === undefined) waits = true;
      else messages.push(toolMessage(outcome, call.id, context.takesImages));
    }
    if (waits) return;
  }
}

interface LoopState {
  context: ToolContext;
  documents: RetrievedDocument[];
  messages: ChatMessage[];
  taken: ReadonlyMap<string, unknown>;
}

interface AllOpened {
  servers: NamedTool[];
  /** Tools that have done their work without being called; a choice of them is content with that. */
  done: Choosable[];
}

async function* openAll(
  entries: readonly ResponseTool[],
  { findSource, callsTools }: Pick<ToolLoopOptions, 'findSource' | 'callsTools'>,
  { context, documents, messages, taken }: LoopState,
): AsyncGenerator<ToolStep, AllOpened, void> {
  const servers: NamedTool[] = [];
  const done: Choosable[] = [];
  const names = new Set(taken.keys());
  for (const entry of entries) {
    const source = findSource(entry.type);
    if (!source || context.response.tool_choice === 'none') continue;
    if (!callsTools && !source.worksUncalled) continue;
    const opened = yield* source.open(entry, context);
    messages.push(...(opened.messages ?? []));
    if (opened.documents) yield { type: 'documents', documents: opened.documents };
    documents.push(...(opened.documents ?? []));
    for (const tool of opened.tools) servers.push(nameTool(tool, entry, names));
    if (opened.documents && opened.tools.length === 0) done.push({ modelName: '', type: entry.type });
  }
  return { servers, done };
}

/** Two servers may have a tool of one name; the model must be able to tell them apart. */
function nameTool(tool: ServerTool, entry: ResponseTool, names: Set<string>): NamedTool {
  const { name } = tool.definition;
  const label = (entry as Record<string, unknown>)['server_label'];
  const group = typeof label === 'string' ? label : undefined;
  let modelName = names.has(name) && group !== undefined ? `${group}__${name}` : name;
  for (let count = 2; names.has(modelName); count += 1) modelName = `${name}_${count}`;
  names.add(modelName);
  return {
    tool,
    definition: { ...tool.definition, name: modelName },
    modelName,
    type: entry.type,
    name,
    group,
  };
}

async function* runCall(
  byName: ReadonlyMap<string, NamedTool>,
  call: ToolCall,
  context: ToolContext,
  documents: RetrievedDocument[],
): AsyncGenerator<ToolStep, ToolOutcome, void> {
  const found = byName.get(call.name);
  if (!found) throw new Error(`No tool ${call.name}`);
  const { name } = found.tool.definition;
  const outcome = yield* found.tool.call({ ...call, name }, context);
  if (outcome.documents) {
    yield { type: 'documents', documents: outcome.documents };
    documents.push(...outcome.documents);
  }
  return outcome;
}

/** Gathers one generation: what it says, and the calls in it, those of the server's tools apart. */
class TurnCalls {
  readonly #calls = new Map<number, ToolCall>();
  #text = '';
  #reasoning = '';
  #cutOff = false;

  /** `isServerTool` tells by the name of a call whose it is. */
  constructor(private readonly isServerTool: (name: string) => boolean) {}

  /** The chunk without the calls that the server runs. */
  take(chunk: GenerationChunk): GenerationChunk {
    this.#text += chunk.text;
    this.#reasoning += chunk.reasoning ?? '';
    this.#cutOff ||= chunk.finishReason === 'length';
    if (!chunk.toolCalls) return chunk;
    for (const piece of chunk.toolCalls) this.#add(piece);
    const toolCalls = chunk.toolCalls.filter(({ index }) => !this.#isServers(index));
    const { toolCalls: _all, ...rest } = chunk;
    return toolCalls.length > 0 ? { ...rest, toolCalls } : rest;
  }

  /** Calls that the server is to run; none where the generation was cut off in the middle of them. */
  get serverCalls(): ToolCall[] {
    if (this.#cutOff) return [];
    return [...this.#calls].flatMap(([index, call]) => (this.#isServers(index) ? [call] : []));
  }

  /** True where the caller has to run something before the conversation can go on. */
  get hasClientCalls(): boolean {
    return [...this.#calls.keys()].some((index) => !this.#isServers(index));
  }

  /** The turn as the conversation goes on with it, with these of its calls. */
  message(toolCalls: ToolCall[]): ChatMessage {
    return {
      role: 'assistant',
      content: this.#text,
      toolCalls,
      ...(this.#reasoning !== '' && { reasoning: this.#reasoning }),
    };
  }

  #add({ index, id, name, input }: ToolCallDelta): void {
    const call = this.#calls.get(index) ?? { id: id ?? `call_${index}`, name: name ?? '', input: '' };
    call.input += input;
    this.#calls.set(index, call);
  }

  #isServers(index: number): boolean {
    return this.isServerTool(this.#calls.get(index)?.name ?? '');
  }
}
