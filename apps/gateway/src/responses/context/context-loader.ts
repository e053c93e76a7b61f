import { MegaNestError, invalidField } from '#contracts';
import type { InputItem, ResponseSettings, StoredItem } from '#responses';
import { ConversationsRepository, ResponseItemsRepository } from '#storage';
import { Inject, Injectable } from '@nestjs/common';

/** Responses that are known here and stored nowhere: those of a WebSocket. */
export interface UnstoredResponses {
  /** The context that a response leaves, oldest item first. */
  context(id: string): readonly StoredItem[] | undefined;
  item(id: string): StoredItem | undefined;
}

/** What was said before a request: the chain of its previous response, or its conversation. */
@Injectable()
export class ContextLoader {
  constructor(
    @Inject(ResponseItemsRepository) private readonly items: ResponseItemsRepository,
    @Inject(ConversationsRepository) private readonly conversations: ConversationsRepository,
  ) {}

  /** Errors: previous_response_not_found, conflict where it is not finished, not_found for the conversation, payload_too_large where it may not grow. */
  async history(
    owner: string,
    settings: Pick<ResponseSettings, 'previous_response_id' | 'conversation' | 'store'>,
    unstored?: UnstoredResponses,
  ): Promise<readonly StoredItem[]> {
    const { previous_response_id: previous, conversation } = settings;
    const known = previous === null ? undefined : unstored?.context(previous);
    if (known) {
      assertNotStored(settings);
      return known;
    }
    if (previous !== null) return this.#chain(owner, previous);
    return conversation ? this.#conversation(owner, conversation.id) : [];
  }

  /** Replaces references by what they refer to. Errors: not_found with the reference's path. */
  async resolve(
    owner: string,
    input: readonly InputItem[],
    { path = 'input', unstored }: { path?: string; unstored?: UnstoredResponses } = {},
  ): Promise<StoredItem[]> {
    const references = input.filter(({ type }) => type === 'item_reference').map(({ id }) => id);
    const found = await this.items.findByIds(owner, references);
    return input.map((item, index) => {
      if (item.type !== 'item_reference') return item;
      const target = unstored?.item(item.id) ?? (found.get(item.id) as StoredItem | undefined);
      if (target) return target;
      throw new MegaNestError('not_found', { what: `The item ${item.id}`, param: `${path}[${index}].id` });
    });
  }

  async #chain(owner: string, id: string): Promise<StoredItem[]> {
    const param = 'previous_response_id';
    const chain = await this.items.chain(owner, id);
    if (!chain) throw new MegaNestError('previous_response_not_found', { id, detail: '', param });
    if (chain.missing !== null) {
      const detail = `: it continues ${chain.missing}, which was deleted`;
      throw new MegaNestError('previous_response_not_found', { id, detail, param });
    }
    if (chain.unfinished.length > 0) {
      const detail = `${param}: ${chain.unfinished.join(', ')} is not finished yet`;
      throw new MegaNestError('conflict', { detail, param });
    }
    return chain.items as StoredItem[];
  }

  async #conversation(owner: string, id: string): Promise<StoredItem[]> {
    const found = await this.conversations.find(owner, id);
    if (!found)
      throw new MegaNestError('not_found', { what: `The conversation ${id}`, param: 'conversation' });
    // What is said now joins it.
    await this.conversations.requireRoom(owner);
    return (await this.conversations.items(id)) as StoredItem[];
  }
}

/** What was promised not to be kept must not be kept with the response that continues it. */
function assertNotStored({
  store,
  previous_response_id: id,
}: Pick<ResponseSettings, 'store' | 'previous_response_id'>): void {
  if (!store) return;
  throw invalidField('store', `${id} is not stored, so what continues it cannot be; send store false`);
}
