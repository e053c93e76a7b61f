import type { ChatMessage, GenerationChunk, ToolCall, ToolCallDelta } from '#platform/contracts';

/** Collects the text and the calls of one generation, and separates calls of the server's tools from the caller's. */
export class TurnCalls {
  readonly #calls = new Map<number, ToolCall>();
  #text = '';
  #reasoning = '';
  #cutOff = false;

  /** `isServerTool`: whether a name belongs to a tool of the server. */
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

  /** Calls for the server to run; empty where the generation was cut off within its calls. */
  get serverCalls(): ToolCall[] {
    if (this.#cutOff) return [];
    return [...this.#calls].flatMap(([index, call]) => (this.#isServers(index) ? [call] : []));
  }

  /** True where the caller must run a call before the conversation can continue. */
  get hasClientCalls(): boolean {
    return [...this.#calls.keys()].some((index) => !this.#isServers(index));
  }

  /** The number of a call among the caller's calls. */
  clientIndexOf(index: number): number {
    return [...this.#calls.keys()].filter((other) => other < index && !this.#isServers(other)).length;
  }

  /** The turn as a message of the conversation, with the given calls. */
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
