import { countPromptTokens, MegaNestError, type ChatMessage, type Tool } from '#contracts';
import { RpcClient, type CallOptions } from '#messaging';
import { Inject, Injectable } from '@nestjs/common';

/** Tokens kept free for an answer of unlimited length, at most a quarter of the window. */
const defaultAnswerTokens = 256;

/** Makes conversations fit the language model, or says that they do not. */
@Injectable()
export class ContextWindow {
  constructor(@Inject(RpcClient) private readonly client: RpcClient) {}

  /** Tokens of the prompt that a conversation becomes. Errors: service_unavailable. */
  async count(messages: ChatMessage[], call: CallOptions, tools: Tool[] = []): Promise<number> {
    const { promptTokens } = await this.#ask(messages, call, tools);
    return promptTokens;
  }

  /** Tokens of a conversation, none for an empty one, and most tokens that the model takes. */
  async measure(messages: ChatMessage[], call: CallOptions): Promise<{ tokens: number; limit: number }> {
    const asked: ChatMessage[] = messages.length > 0 ? messages : [{ role: 'user', content: '' }];
    const counted = await this.#ask(asked, call);
    return { tokens: messages.length > 0 ? counted.promptTokens : 0, limit: counted.maxInputTokens };
  }

  /**
   * `auto`: without the oldest turns that do not fit; system turns and the last question stay. `disabled`: as it is.
   * Errors: context_length_exceeded where even that is too long, or with `disabled`.
   */
  async fit(
    messages: ChatMessage[],
    truncation: 'auto' | 'disabled',
    maxTokens: number | undefined,
    call: CallOptions,
    tools: Tool[] = [],
  ): Promise<ChatMessage[]> {
    const counted = await this.#ask(messages, call, tools);
    const { maxInputTokens: limit } = counted;
    const room = limit - Math.min(maxTokens ?? defaultAnswerTokens, Math.floor(limit / 4));
    if (counted.promptTokens <= (truncation === 'auto' ? room : limit)) return messages;
    if (truncation === 'auto') {
      const shorter = await this.#withoutOldest(messages, room, (kept) => this.count(kept, call, tools));
      if (shorter) return shorter;
    }
    throw new MegaNestError('context_length_exceeded', {
      tokens: counted.promptTokens,
      limit,
      model: 'the model',
      param: 'input',
    });
  }

  /** Images are not counted: only the engine that sees them knows what they cost. */
  #ask(messages: readonly ChatMessage[], call: CallOptions, tools?: Tool[]) {
    const texts = messages.map(({ images: _images, ...message }) => message);
    return this.client.request(countPromptTokens, { messages: texts, ...(tools && { tools }) }, call);
  }

  /** Drops as few of the oldest turns as possible, found by bisection; undefined where none are left to drop. */
  async #withoutOldest(
    messages: ChatMessage[],
    room: number,
    count: (kept: ChatMessage[]) => Promise<number>,
  ): Promise<ChatMessage[] | undefined> {
    const cuts = turnStarts(messages).slice(1);
    let [low, high] = [0, cuts.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      const tokens = await count(withoutTurnsBefore(messages, cuts[middle] ?? 0));
      if (tokens <= room) high = middle;
      else low = middle + 1;
    }
    const cut = cuts[low];
    return cut === undefined ? undefined : withoutTurnsBefore(messages, cut);
  }
}

/** Where the user's turns begin. */
function turnStarts(messages: readonly ChatMessage[]): number[] {
  return messages.flatMap(({ role }, index) => (role === 'user' ? [index] : []));
}

function withoutTurnsBefore(messages: readonly ChatMessage[], cut: number): ChatMessage[] {
  return messages.filter(({ role }, index) => index >= cut || role === 'system' || role === 'developer');
}
