import {
  asDocuments,
  type ChatMessage,
  type GenerationChunk,
  type Neighbour,
  type RetrievedDocument,
  type Tool,
  type ToolCall,
  type ToolChoice,
} from '#platform/contracts';
import {
  modelTools,
  type CallTarget,
  type MachineStep,
  type ResponseObject,
  type ResponseTool,
  type ToolStep,
} from '#api/responses';
import {
  toolMessage,
  withinImageLimit,
  type ServerTool,
  type ServerToolSource,
  type ToolContext,
  type ToolOutcome,
} from './server-tool.js';
import { TurnCalls } from '../../tool-turns/turn-calls.js';
import { choosableTargets, laterChoice, narrowed, toolChoice, type Choosable } from './plan-tools.js';

/** Limit for the generations of one response. The last one has no server tools, so that it ends in an answer. */
const maxTurns = 32;

/** One generation of a response. */
export interface GenerationTurn {
  messages: ChatMessage[];
  tools: Tool[];
  toolChoice?: ToolChoice;
  /** Passages to answer from and to cite. */
  documents: RetrievedDocument[];
  /** Passages around them. */
  neighbours?: Neighbour[];
  /** A tool has searched before the first turn, and may have found nothing. */
  searched?: boolean;
  /** Number of the generation, from 0. */
  number: number;
}

export interface ToolLoopOptions {
  response: ResponseObject;
  context: Omit<ToolContext, 'documents' | 'response'>;
  /** Passages of the files in the messages, before those that tools find. */
  passages?: readonly RetrievedDocument[];
  /** The model calls tools. Otherwise only the tools that work without a call are opened. */
  callsTools: boolean;
  findSource: (type: string) => ServerToolSource | undefined;
  generate: (turn: GenerationTurn) => AsyncIterable<GenerationChunk>;
}

interface NamedTool extends Choosable {
  tool: ServerTool;
  definition: Tool;
}

/**
 * Generates a response with its tools: opens the server's tools, generates, runs the model's calls of them, adds the
 * results to the conversation and generates again. It ends when the model answers in words or calls a tool of the
 * caller, or when a call needs approval. After `max_tool_calls` calls the server's tools are no longer offered. Leaving
 * the loop stops running work.
 */
export async function* toolLoop(options: ToolLoopOptions): AsyncGenerator<MachineStep, void, void> {
  const { response, generate } = options;
  const all = modelTools(response.tools);
  const own = options.callsTools ? all : { ...all, tools: [], targets: new Map<string, CallTarget>() };
  const documents: RetrievedDocument[] = [...(options.passages ?? [])];
  if (documents.length > 0) yield { type: 'documents', documents: [...documents] };
  const context: ToolContext = { ...options.context, response, documents };
  const messages = [...context.messages];
  const opened = yield* openAll(own.others, options, { context, documents, messages, taken: own.targets });
  const { servers, done, neighbours } = opened;
  const choosable = [...choosableTargets(own.targets), ...servers, ...done];
  const first: ToolChoice = options.callsTools
    ? toolChoice(response.tool_choice, choosable)
    : { mode: 'auto' };
  let left = response.max_tool_calls ?? Infinity;
  for (let number = 0; ; number += 1) {
    const offered = left > 0 && number < maxTurns - 1 ? servers : [];
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
      neighbours,
      searched: done.length > 0,
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
  /** Tools that have done their work without a call; this satisfies a `tool_choice` that names them. */
  done: Choosable[];
  neighbours: Neighbour[];
}

async function* openAll(
  entries: readonly ResponseTool[],
  { findSource, callsTools }: Pick<ToolLoopOptions, 'findSource' | 'callsTools'>,
  { context, documents, messages, taken }: LoopState,
): AsyncGenerator<ToolStep, AllOpened, void> {
  const servers: NamedTool[] = [];
  const done: Choosable[] = [];
  const neighbours: Neighbour[] = [];
  const names = new Set(taken.keys());
  for (const entry of entries) {
    const source = findSource(entry.type);
    if (!source || context.response.tool_choice === 'none') continue;
    if (!callsTools && !source.worksUncalled) continue;
    const opened = yield* source.open(entry, context);
    messages.push(...(opened.messages ?? []));
    if (opened.documents) yield { type: 'documents', documents: opened.documents };
    documents.push(...(opened.documents ?? []));
    neighbours.push(...(opened.neighbours ?? []));
    for (const tool of opened.tools) servers.push(nameTool(tool, entry, names));
    if (opened.documents && opened.tools.length === 0) done.push({ modelName: '', type: entry.type });
  }
  if (neighbours.length > 0) yield { type: 'documents', documents: asDocuments(neighbours) };
  return { servers, done, neighbours };
}

/** Gives a tool a unique name for the model, because tools of two servers may have the same name. */
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
