import {
  MegaNestError,
  type GenerationChunk,
  type TokenUsage,
  type ToolCallDelta,
} from '#platform/contracts';
import type { CompletionIdentity } from '#api/openai-api';
import type { AttachedSource } from '../request/attached-sources.js';
import { messageCitations } from './message-citations.js';
import type { ContentBlock, Message, MessageEvent, MessageUsage, StopReason } from './message-events.js';
import { StopSequenceFilter } from './stop-sequence.js';

interface MessageWriterOptions {
  identity: CompletionIdentity;
  /** The name by which the client asked for the model. */
  model: string;
  stopSequences: readonly string[];
  sources: readonly AttachedSource[];
  /** Signs the thinking of a block. */
  sign: (thinking: string) => string;
  /** The client gets signatures alone. */
  hidesThinking: boolean;
}

/** Turns the chunks of an answer into the events of a message: one block after the other. */
export class MessageWriter {
  readonly #stops: StopSequenceFilter;
  readonly #message: Message;
  #open: ContentBlock['type'] | undefined;
  #blocks = 0;
  #thinking = '';
  /** The index of the call whose block is open, and the calls that have to wait for its end. */
  #call: number | undefined;
  readonly #waiting = new Map<number, ToolCallDelta[]>();
  #finish: GenerationChunk['finishReason'];
  #usage: TokenUsage | undefined;
  #calls = 0;

  constructor(private readonly options: MessageWriterOptions) {
    this.#stops = new StopSequenceFilter(options.stopSequences);
    this.#message = {
      id: `msg_${options.identity.id.replace(/^chatcmpl-/, '')}`,
      type: 'message',
      role: 'assistant',
      model: options.model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: usageOf(undefined),
    };
  }

  /** The events of a whole answer. Errors of the answer are thrown. */
  async *write(chunks: AsyncIterable<GenerationChunk>): AsyncGenerator<MessageEvent, void, void> {
    let started = false;
    for await (const chunk of chunks) {
      if (!started) yield { type: 'message_start', message: { ...this.#message } };
      started = true;
      yield* this.#take(chunk);
    }
    if (!started) yield { type: 'message_start', message: { ...this.#message } };
    yield* this.#end();
  }

  *#take(chunk: GenerationChunk): Generator<MessageEvent> {
    const { text, reasoning, toolCalls = [], citations = [], finishReason, usage } = chunk;
    if (reasoning) yield* this.#think(reasoning);
    if (text) yield* this.#say(this.#stops.take(text));
    for (const call of toolCalls) yield* this.#takeCall(call);
    if (citations.length > 0) yield* this.#cite(citations);
    this.#finish = finishReason ?? this.#finish;
    this.#usage = usage ?? this.#usage;
  }

  *#think(thinking: string): Generator<MessageEvent> {
    yield* this.#begin({ type: 'thinking', thinking: '', signature: '' });
    this.#thinking += thinking;
    if (!this.options.hidesThinking) yield this.#delta({ type: 'thinking_delta', thinking });
  }

  *#say(text: string): Generator<MessageEvent> {
    if (text === '') return;
    yield* this.#begin({ type: 'text', text: '', citations: null });
    yield this.#delta({ type: 'text_delta', text });
  }

  *#cite(citations: NonNullable<GenerationChunk['citations']>): Generator<MessageEvent> {
    const { identity, sources } = this.options;
    const found = messageCitations(citations, identity.documents?.() ?? [], sources);
    if (found.length > 0) yield* this.#begin({ type: 'text', text: '', citations: null });
    for (const citation of found) yield this.#delta({ type: 'citations_delta', citation });
  }

  /** The first call is passed on as it comes; another one waits, since blocks do not overlap. */
  *#takeCall(call: ToolCallDelta): Generator<MessageEvent> {
    this.#call ??= call.index;
    if (call.index === this.#call) yield* this.#passCall(call, this.#calls === 0);
    else this.#waiting.set(call.index, [...(this.#waiting.get(call.index) ?? []), call]);
  }

  *#passCall({ index, id, name = '', input }: ToolCallDelta, isFirst: boolean): Generator<MessageEvent> {
    if (isFirst) {
      this.#calls += 1;
      const block = { type: 'tool_use', id: id ?? `toolu_${index}`, name, input: {} } as const;
      yield* this.#close();
      yield* this.#begin(block);
    }
    if (input !== '') yield this.#delta({ type: 'input_json_delta', partial_json: input });
  }

  *#end(): Generator<MessageEvent> {
    const { text, sequence } = this.#stops.end();
    yield* this.#say(text);
    for (const [, calls] of [...this.#waiting].toSorted(([a], [b]) => a - b))
      for (const [place, call] of calls.entries()) yield* this.#passCall(call, place === 0);
    yield* this.#close();
    yield {
      type: 'message_delta',
      delta: { stop_reason: stopReason(this.#finish, sequence), stop_sequence: sequence },
      usage: usageOf(this.#usage),
    };
    yield { type: 'message_stop' };
  }

  /** Opens a block, unless one of its kind is open. */
  *#begin(block: ContentBlock): Generator<MessageEvent> {
    if (this.#open === block.type) return;
    yield* this.#close();
    this.#open = block.type;
    yield { type: 'content_block_start', index: this.#blocks, content_block: block };
  }

  *#close(): Generator<MessageEvent> {
    if (this.#open === undefined) return;
    if (this.#open === 'thinking') {
      yield this.#delta({ type: 'signature_delta', signature: this.options.sign(this.#thinking) });
      this.#thinking = '';
    }
    yield { type: 'content_block_stop', index: this.#blocks };
    this.#open = undefined;
    this.#blocks += 1;
  }

  #delta(delta: Extract<MessageEvent, { type: 'content_block_delta' }>['delta']): MessageEvent {
    return { type: 'content_block_delta', index: this.#blocks, delta };
  }
}

function stopReason(finish: GenerationChunk['finishReason'], sequence: string | null): StopReason {
  if (sequence !== null) return 'stop_sequence';
  switch (finish) {
    case 'length':
      return 'max_tokens';
    case 'tool_calls':
      return 'tool_use';
    case 'content_filter':
      return 'refusal';
    default:
      return 'end_turn';
  }
}

/** Tokens of the prompt that were read from the cache are counted apart. */
function usageOf(usage: TokenUsage | undefined): MessageUsage {
  const { promptTokens = 0, cachedTokens = 0, completionTokens = 0 } = usage ?? {};
  return {
    input_tokens: promptTokens - cachedTokens,
    output_tokens: completionTokens,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: cachedTokens,
    service_tier: 'standard',
  };
}

/** Collects the events of an answer to one message. Errors: bad_upstream if the input of a call is not an object. */
export async function collectMessage(events: AsyncIterable<MessageEvent>): Promise<Message> {
  let message: Message | undefined;
  let input = '';
  for await (const event of events) {
    if (event.type === 'message_start') message = event.message;
    if (!message) continue;
    const block = message.content.at(-1);
    if (event.type === 'content_block_start') message.content.push({ ...event.content_block });
    else if (event.type === 'content_block_delta' && event.delta.type === 'input_json_delta')
      input += event.delta.partial_json;
    else if (event.type === 'content_block_delta' && block) extend(block, event.delta);
    else if (event.type === 'content_block_stop' && block?.type === 'tool_use') {
      block.input = parsedInput(block.name, input);
      input = '';
    } else if (event.type === 'message_delta') Object.assign(message, event.delta, { usage: event.usage });
  }
  if (!message)
    throw new MegaNestError('internal_error', { service: 'gateway', detail: 'there is no answer' });
  return message;
}

function extend(
  block: ContentBlock,
  delta: Extract<MessageEvent, { type: 'content_block_delta' }>['delta'],
): void {
  if (block.type === 'text' && delta.type === 'text_delta') block.text += delta.text;
  else if (block.type === 'text' && delta.type === 'citations_delta')
    (block.citations ??= []).push(delta.citation);
  else if (block.type === 'thinking' && delta.type === 'thinking_delta') block.thinking += delta.thinking;
  else if (block.type === 'thinking' && delta.type === 'signature_delta') block.signature = delta.signature;
}

function parsedInput(name: string, text: string): Record<string, unknown> {
  try {
    const input: unknown = JSON.parse(text === '' ? '{}' : text);
    if (typeof input === 'object' && input !== null && !Array.isArray(input))
      return input as Record<string, unknown>;
  } catch {
    // Reported below.
  }
  const detail = `the arguments of the call of ${name} are not a JSON object`;
  throw new MegaNestError('bad_upstream', { service: 'llm', detail });
}
