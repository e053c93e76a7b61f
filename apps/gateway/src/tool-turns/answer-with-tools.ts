import type {
  ChatMessage,
  GenerationChunk,
  RetrievedDocument,
  TokenUsage,
  Tool,
  ToolChoice,
} from '#platform/contracts';
import { TurnCalls } from './turn-calls.js';

/** Limit for the generations of one answer. The last one has no tools of the server, so that it ends in words. */
const maxTurns = 32;

/** A tool that the model calls and the gateway runs. */
export interface RunningTool {
  /** The definition for the model: a function. */
  readonly definition: Tool;
  /**
   * Runs a call with the JSON that the model wrote. The passages of the result are numbered after `numbered` earlier
   * ones. A failure is a text that the model reads; only an aborted call is an error.
   */
  readonly run: (
    input: string,
    numbered: number,
  ) => Promise<{ text: string; documents: readonly RetrievedDocument[] }>;
}

/** The tools of an agent, and the text in which it reads passages. */
export interface AgentTools {
  readonly tools: readonly RunningTool[];
  readonly show: (documents: readonly RetrievedDocument[]) => string;
}

/** One generation of an answer. */
export interface ToolTurn {
  messages: ChatMessage[];
  tools: Tool[];
  toolChoice?: ToolChoice;
  /** Passages that the answer may cite. */
  documents: RetrievedDocument[];
}

export interface ToolTurns {
  messages: readonly ChatMessage[];
  /** The tools that the caller runs. */
  ownTools?: readonly Tool[];
  /** The tools that the gateway runs. */
  tools: readonly RunningTool[];
  toolChoice?: ToolChoice | undefined;
  /** Maximum number of calls of the gateway's tools. */
  maxCalls?: number | undefined;
  /** Passages so far; those that the tools find are added. */
  documents: RetrievedDocument[];
  generate: (turn: ToolTurn) => AsyncIterable<GenerationChunk>;
}

/**
 * Generates an answer, runs the model's calls of the gateway's tools, and generates again with the results, until the
 * model answers in words or calls a tool of the caller. The answer is one stream with one end and the usage of all
 * generations. In a turn that also calls a tool of the caller, the gateway's tools are not run, because the caller's
 * next request would not contain their results.
 */
export async function* answerWithTools(turns: ToolTurns): AsyncGenerator<GenerationChunk, void, void> {
  const { ownTools = [], tools, documents, generate } = turns;
  const messages = [...turns.messages];
  let left = turns.maxCalls ?? Infinity;
  let usage: TokenUsage | undefined;
  for (let number = 0; ; number += 1) {
    const offered = left > 0 && number < maxTurns - 1 ? tools : [];
    const byName = new Map(offered.map((tool) => [tool.definition.name, tool]));
    const calls = new TurnCalls((name) => byName.has(name));
    const all = [...ownTools, ...offered.map(({ definition }) => definition)];
    const turn = { messages: [...messages], documents: [...documents], ...choiceOf(turns, all, number) };
    let end: GenerationChunk | undefined;
    for await (const chunk of generate(turn)) {
      const shown = withDenseCalls(calls.take(chunk), calls);
      if (shown.finishReason) end = shown;
      else if (shown.usage) usage = sumOf(usage, shown.usage);
      else yield shown;
    }
    usage = sumOf(usage, end?.usage);
    const wanted = calls.hasClientCalls ? [] : calls.serverCalls.slice(0, left);
    if (wanted.length === 0) return yield lastChunk(end, usage, calls);
    const { finishReason: _reason, usage: _usage, ...rest } = end ?? { choice: 0, text: '' };
    if (rest.text || rest.reasoning || rest.citations?.length) yield rest;
    left -= wanted.length;
    messages.push(calls.message(wanted));
    for (const { id, name, input } of wanted) {
      const { text, documents: found } = await byName.get(name)!.run(input, documents.length);
      documents.push(...found);
      messages.push({ role: 'tool', content: text, toolCallId: id });
    }
  }
}

/** The tools of a generation, and the choice among them: a call is demanded once. */
function choiceOf(
  { toolChoice: choice }: Pick<ToolTurns, 'toolChoice'>,
  all: readonly Tool[],
  number: number,
): Pick<ToolTurn, 'tools' | 'toolChoice'> {
  const allowed = choice?.names && all.filter(({ name }) => choice.names?.includes(name));
  const isDemanded = choice?.mode === 'required' && number === 0;
  if (choice?.mode === 'auto' && allowed?.length === 0) return { tools: [] };
  if (choice?.mode === 'required' && !isDemanded) return { tools: [...all] };
  const names = allowed && allowed.length > 0 ? { names: allowed.map(({ name }) => name) } : {};
  return {
    tools: [...all],
    ...(choice && all.length > 0 && { toolChoice: { mode: choice.mode, ...names } }),
  };
}

/** The calls of the caller's tools numbered from 0, without gaps for the calls that the gateway saw. */
function withDenseCalls(chunk: GenerationChunk, calls: TurnCalls): GenerationChunk {
  if (!chunk.toolCalls) return chunk;
  return {
    ...chunk,
    toolCalls: chunk.toolCalls.map((call) => ({ ...call, index: calls.clientIndexOf(call.index) })),
  };
}

/** The end of the answer. Calls that the gateway does not run any more are not calls for the caller. */
function lastChunk(
  end: GenerationChunk = { choice: 0, text: '', finishReason: 'stop' },
  usage: TokenUsage | undefined,
  calls: TurnCalls,
): GenerationChunk {
  const isOpen = end.finishReason === 'tool_calls' && !calls.hasClientCalls;
  return { ...end, ...(isOpen && { finishReason: 'stop' }), ...(usage && { usage }) };
}

function sumOf(sum: TokenUsage | undefined, more: TokenUsage | undefined): TokenUsage | undefined {
  if (!sum || !more) return sum ?? more;
  const reasoning = (sum.reasoningTokens ?? 0) + (more.reasoningTokens ?? 0);
  return {
    promptTokens: sum.promptTokens + more.promptTokens,
    completionTokens: sum.completionTokens + more.completionTokens,
    cachedTokens: sum.cachedTokens + more.cachedTokens,
    ...(reasoning > 0 && { reasoningTokens: reasoning }),
  };
}
