import type { ChatMessage, GenerationChunk, ToolCall, ToolCallDelta } from '#contracts';

/** Gathers one generation: what it says, and the calls in it, those of the server's tools apart. */
export class TurnCalls {
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
