import type { GenerationEvent } from '#engine/generation';
import {
  logprobsOf,
  pieceOf,
  ReportedUsage,
  type ChoicePiece,
  type CompletionChoice,
  type CompletionChunk,
} from './completion-chunk.js';
import { doneMark } from './completion-stream.js';
import type { RemoteServer } from './remote-server.js';

export interface CompletionOptions {
  /** Number of answers that were requested. */
  choices: number;
  /** Counts the tokens of the prompt, where the engine does not report them. */
  promptTokens: () => Promise<number>;
  server: Pick<RemoteServer, 'unexpected' | 'unusable'>;
}

/**
 * Converts frames to generation events. The last event waits for the usage, which has a frame of its own. Numbers that
 * an engine does not report are estimated from the number of text pieces and from `promptTokens`. A stream is complete
 * with `[DONE]`, or if each answer has its reason. Errors: bad_upstream for a stream that is not complete, for an
 * answer without text, call and reason, and for an answer that the engine reports as failed.
 */
export async function* completionEvents(
  frames: AsyncIterable<CompletionChunk | typeof doneMark>,
  { choices, promptTokens, server }: CompletionOptions,
): AsyncGenerator<GenerationEvent, void, void> {
  const open = new Set(Array.from({ length: choices }, (_unused, index) => index));
  const begun = new Set<number>();
  const usage = new ReportedUsage();
  let pieces = 0;
  let reasoning = 0;
  let last: GenerationEvent | undefined;
  let isDone = false;
  for await (const frame of untilComplete(frames, () => open.size === 0)) {
    if (frame === doneMark) {
      isDone = true;
      break;
    }
    usage.read(frame);
    for (const [place, choice] of (frame.choices ?? []).entries()) {
      const index = choice?.index ?? place;
      if (!choice || !open.has(index)) continue;
      const event = eventOf(index, choice, server);
      if (event.text !== '' || event.reasoning !== undefined) pieces += 1;
      if (event.text === '' && event.reasoning !== undefined) reasoning += 1;
      if (saysSomething(event)) begun.add(index);
      if (event.finishReason) open.delete(index);
      if (open.size === 0) last = event;
      else if (saysSomething(event)) yield event;
    }
  }
  if (open.size > 0 && !isDone) throw server.unexpected('its engine ended the stream early');
  for (const choice of open) {
    if (!begun.has(choice)) throw server.unusable('its engine sent an empty answer');
    if (last) yield last;
    last = { choice, text: '', tokenIds: [], finishReason: 'stop' };
  }
  if (last) yield { ...last, usage: await usage.orEstimate({ pieces, reasoning }, promptTokens) };
}

/** Ends at an error after the last answer is complete: only the usage can be missing. */
async function* untilComplete<Frame>(
  frames: AsyncIterable<Frame>,
  isComplete: () => boolean,
): AsyncGenerator<Frame, void, void> {
  try {
    yield* frames;
  } catch (error) {
    if (!isComplete()) throw error;
  }
}

function saysSomething({ text, reasoning, toolCalls, finishReason }: GenerationEvent): boolean {
  return text !== '' || reasoning !== undefined || toolCalls !== undefined || finishReason !== undefined;
}

function eventOf(
  index: number,
  choice: CompletionChoice,
  server: Pick<RemoteServer, 'unusable'>,
): GenerationEvent {
  const { text, refusal, reasoning, toolCalls }: ChoicePiece = pieceOf(choice);
  const reason = choice.finish_reason?.trim().toLowerCase();
  if (reason && failures.has(reason))
    throw server.unusable(`its engine ended the answer with the reason ${JSON.stringify(reason)}`);
  const logprobs = logprobsOf(choice);
  return {
    choice: index,
    text,
    tokenIds: [],
    ...(refusal && { refusal }),
    ...(logprobs && { logprobs }),
    ...(reasoning && { reasoning }),
    ...(toolCalls.length > 0 && { toolCalls }),
    ...(reason && { finishReason: finishReasons.get(reason) ?? 'stop' }),
  };
}

/** Reasons of OpenAI, Anthropic, Gemini, Mistral, Zhipu and engines that pass theirs on; all others mean `stop`. */
const finishReasons: ReadonlyMap<string, NonNullable<GenerationEvent['finishReason']>> = new Map([
  ...['length', 'max_tokens', 'model_length', 'max_length', 'max_output_tokens', 'max_new_tokens'].map(
    (name) => [name, 'length'] as const,
  ),
  ...['tool_calls', 'tool_call', 'tool_use', 'function_call'].map((name) => [name, 'tool_calls'] as const),
  ...[
    'content_filter',
    'safety',
    'refusal',
    'recitation',
    'blocklist',
    'prohibited_content',
    'spii',
    'sensitive',
  ].map((name) => [name, 'content_filter'] as const),
]);

/** Reasons of an answer that the engine could not complete. */
const failures: ReadonlySet<string> = new Set([
  'error',
  'abort',
  'aborted',
  'cancelled',
  'canceled',
  'timeout',
  'network_error',
  'insufficient_system_resource',
  'malformed_function_call',
]);
