import { countPromptTokens, MegaNestError, type ChatMessage, type Tool } from '#contracts';
import { RpcClient, type CallOptions } from '#messaging';
import { Inject, Injectable } from '@nestjs/common';

/** Tokens kept free for an answer of unlimited length, at most a quarter of the window. */
const defaultAnswerTokens = 256;

/** Counts the tokens of conversations and shortens them to the context window of the language model. */
@Injectable()
export class ContextWindow {
  constructor(@Inject(RpcClient) private readonly client: RpcClient) {}

  /** Counts the tokens of a conversation's prompt. Errors: service_unavailable. */
  async count(messages: ChatMessage[], call: CallOptions, tools: Tool[] = []): Promise<number> {
    const { promptTokens } = await this.#ask(messages, call, tools);
    return promptTokens;
  }

  /** Tokens of a conversation (0 for an empty one), and the model's limit for input tokens. */
  async measure(messages: ChatMessage[], call: CallOptions): Promise<{ tokens: number; limit: number }> {
    const asked: ChatMessage[] = messages.length > 0 ? messages : [{ role: 'user', content: '' }];
    const counted = await this.#ask(asked, call);
    return { tokens: messages.length > 0 ? counted.promptTokens : 0, limit: counted.maxInputTokens };
  }

  /**
   * `auto`: drops the oldest turns that do not fit, except system turns and the last question. `disabled`: drops none.
   * Errors: context_length_exceeded where the remaining conversation is still too long.
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

  /** Images are not counted: only the engine knows the tokens of an image. */
  #ask(messages: readonly ChatMessage[], call: CallOptions, tools?: Tool[]) {
    const texts = messages.map(({ images: _images, ...message }) => message);
    return this.client.request(countPromptTokens, { messages: texts, ...(tools && { tools }) }, call);
  }

  /** Drops as few of the oldest turns as possible, found by bisection; undefined where the rest never fits. */
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

/** Indexes of the messages that begin a turn of the user. */
function turnStarts(messages: readonly ChatMessage[]): number[] {
  return messages.flatMap(({ role }, index) => (role === 'user' ? [index] : []));
}

function withoutTurnsBefore(messages: readonly ChatMessage[], cut: number): ChatMessage[] {
  return messages.filter(({ role }, index) => index >= cut || role === 'system' || role === 'developer');
}
