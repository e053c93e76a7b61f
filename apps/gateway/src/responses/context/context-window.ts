import { countPromptTokens, MegaNestError, type ChatMessage, type Tool } from '#platform/contracts';
import { RpcClient, type CallOptions } from '#platform/messaging';
import { Inject, Injectable } from '@nestjs/common';
import { modalitiesOf } from '../../chat/chat-model.js';
import { ImageStore } from '../../input-files/image-store.js';
import { ModelCatalog } from '../../models/model-catalog.js';

/** Tokens kept free for an answer of unlimited length, at most a quarter of the window. */
const defaultAnswerTokens = 256;

/**
 * Counts the tokens of conversations and shortens them to the context window of the language model. Images count where
 * the model reads images.
 */
@Injectable()
export class ContextWindow {
  constructor(
    @Inject(RpcClient) private readonly client: RpcClient,
    @Inject(ModelCatalog) private readonly models: Pick<ModelCatalog, 'llm'>,
    @Inject(ImageStore) private readonly images: Pick<ImageStore, 'lendFor'>,
  ) {}

  /** Counts the tokens of a conversation's prompt. Errors: service_unavailable; errors of {@link ImageStore.lend}. */
  async count(messages: ChatMessage[], call: CallOptions, tools: Tool[] = []): Promise<number> {
    const { promptTokens } = await this.#withImages(messages, call, (shown) => this.#ask(shown, call, tools));
    return promptTokens;
  }

  /** Tokens of a conversation (0 for an empty one), and the model's limit for input tokens. Errors: see {@link count}. */
  async measure(messages: ChatMessage[], call: CallOptions): Promise<{ tokens: number; limit: number }> {
    const asked: ChatMessage[] = messages.length > 0 ? messages : [{ role: 'user', content: '' }];
    const counted = await this.#withImages(asked, call, (shown) => this.#ask(shown, call));
    return { tokens: messages.length > 0 ? counted.promptTokens : 0, limit: counted.maxInputTokens };
  }

  /**
   * `auto`: drops the oldest turns that do not fit, except system turns and the last question. `disabled`: drops none.
   * Errors: context_length_exceeded where the remaining conversation is still too long; see {@link count}.
   */
  async fit(
    messages: ChatMessage[],
    truncation: 'auto' | 'disabled',
    maxTokens: number | undefined,
    call: CallOptions,
    tools: Tool[] = [],
  ): Promise<ChatMessage[]> {
    return this.#withImages(messages, call, async (shown) => {
      const counted = await this.#ask(shown, call, tools);
      const { maxInputTokens: limit, promptTokens: tokens } = counted;
      const room = limit - Math.min(maxTokens ?? defaultAnswerTokens, Math.floor(limit / 4));
      if (tokens <= (truncation === 'auto' ? room : limit)) return messages;
      const count = async (kept: ChatMessage[]) => (await this.#ask(kept, call, tools)).promptTokens;
      const cut = truncation === 'auto' ? await cutToFit(shown, room, count) : undefined;
      if (cut !== undefined) return withoutTurnsBefore(messages, cut);
      throw new MegaNestError('context_length_exceeded', {
        tokens,
        limit,
        model: 'the model',
        param: 'input',
      });
    });
  }

  /** Stores the images for a model that reads images. For another model they are left out. */
  async #withImages<Result>(
    messages: readonly ChatMessage[],
    call: CallOptions,
    work: (shown: ChatMessage[]) => Promise<Result>,
  ): Promise<Result> {
    const hasImages = messages.some(({ images }) => images);
    if (hasImages && modalitiesOf(await this.models.llm(call)).includes('image'))
      return this.images.lendFor(messages, call, work);
    return work(messages.map(({ images: _images, ...message }) => message));
  }

  #ask(messages: ChatMessage[], call: CallOptions, tools?: Tool[]) {
    return this.client.request(countPromptTokens, { messages, ...(tools && { tools }) }, call);
  }
}

/**
 * Finds the index before which the fewest of the oldest turns are dropped, by bisection; undefined where the rest never
 * fits.
 */
async function cutToFit(
  messages: ChatMessage[],
  room: number,
  count: (kept: ChatMessage[]) => Promise<number>,
): Promise<number | undefined> {
  const cuts = turnStarts(messages).slice(1);
  let [low, high] = [0, cuts.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const tokens = await count(withoutTurnsBefore(messages, cuts[middle] ?? 0));
    if (tokens <= room) high = middle;
    else low = middle + 1;
  }
  return cuts[low];
}

/** Indexes of the messages that begin a turn of the user. */
function turnStarts(messages: readonly ChatMessage[]): number[] {
  return messages.flatMap(({ role }, index) => (role === 'user' ? [index] : []));
}

function withoutTurnsBefore(messages: readonly ChatMessage[], cut: number): ChatMessage[] {
  return messages.filter(({ role }, index) => index >= cut || role === 'system' || role === 'developer');
}
