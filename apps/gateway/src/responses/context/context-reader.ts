import { invalidField, MegaNestError, type ImageBudget } from '#platform/contracts';
import {
  compactedContextOf,
  describeImage,
  expandCompactions,
  NotSealedHereError,
  SealedTextTooLargeError,
  Sealer,
  type ImageUse,
  type InputItem,
  type ResponseSettings,
  type SealLabel,
  type StoredItem,
} from '#api/responses';
import type { HttpCall } from '#platform/service-kit';
import { ConversationsRepository, ResponseItemsRepository } from '#platform/storage';
import { Inject, Injectable } from '@nestjs/common';
import { InputFiles, sizeOfDataUrl } from '../../input-files/input-files.js';

export interface ReadOptions {
  owner: string;
  /** Path of the items, for errors: `input`. */
  path: string;
  /** `describe`: images become text. `take`: stored images are loaded. Otherwise `toChatMessages` refuses images. */
  images: ImageUse;
  /** Limit for the images of a request; shared by all its items. */
  budget: ImageBudget;
  call: HttpCall;
}

type Part = Record<string, unknown>;

/** Limits for the opened bytes of a request's sealed items, and for its compactions: newer ones include older ones. */
const maxSealedBytes = 32 * 1024 * 1024;
const maxCompactions = 8;

/** The unused rest of these limits. */
interface SealedBudget {
  bytes: number;
  compactions: number;
}

interface SealedPlace {
  path: string;
  index: number;
  budget: SealedBudget;
}

function tooManyCompactions(param: string): MegaNestError {
  return invalidField(param, `at most ${maxCompactions} compactions are read; send the newest`);
}

/**
 * Makes items readable for a model that takes text: opens the items that the server sealed (reasoning, compacted
 * contexts) and replaces files by their text. Stored and listed items are not changed.
 */
@Injectable()
export class ContextReader {
  constructor(
    @Inject(Sealer) private readonly sealer: Sealer,
    @Inject(InputFiles) private readonly files: InputFiles,
  ) {}

  /** Errors: invalid_encrypted_content; the errors of {@link InputFiles}. */
  async read(items: readonly StoredItem[], options: ReadOptions): Promise<StoredItem[]> {
    const budget: SealedBudget = { bytes: maxSealedBytes, compactions: maxCompactions };
    const opened = expandCompactions(items, (item, index) => {
      const place = { path: options.path, index, budget };
      if (budget.compactions-- <= 0) throw tooManyCompactions(`${options.path}[${index}]`);
      return compactedContextOf(this.#open(item, { kind: 'compaction', owner: options.owner }, place));
    });
    // Errors name the items of the request, not the items inside a compaction.
    const places = new Map(items.map((item, index) => [item, index]));
    const read: StoredItem[] = [];
    for (const item of opened) read.push(await this.#readItem(item, places.get(item) ?? 0, options, budget));
    return read;
  }

  async #readItem(
    item: StoredItem,
    index: number,
    options: ReadOptions,
    budget: SealedBudget,
  ): Promise<StoredItem> {
    if (item.type === 'reasoning')
      return this.#openReasoning(item, options.owner, { path: options.path, index, budget });
    const field = item.type === 'message' ? 'content' : 'output';
    const parts = item[field];
    if (!Array.isArray(parts) || !parts.some(isAttachment)) return item;
    const path = `${options.path}[${index}].${field}`;
    const read: Part[] = [];
    for (const [place, part] of (parts as Part[]).entries())
      read.push(await this.#readPart(part, `${path}[${place}]`, options));
    return { ...item, [field]: read };
  }

  async #readPart(part: Part, path: string, { owner, call, images, budget }: ReadOptions): Promise<Part> {
    if (part['type'] === 'input_file')
      return { type: 'input_text', ...(await this.files.read(part, path, owner, call)) };
    if (part['type'] !== 'input_image') return part;
    if (images === 'describe') return { type: 'input_text', text: describeImage(part) };
    if (images !== 'take') return part;
    const { file_id: id, image_url: url } = part;
    if (typeof id === 'string')
      return { ...part, image_url: await this.files.dataUrl(id, `${path}.file_id`, owner, budget) };
    budget.add(typeof url === 'string' ? sizeOfDataUrl(url) : 0, path);
    return part;
  }

  /** The sealed text is the complete reasoning; the summary in the item is for people. */
  #openReasoning(item: StoredItem, owner: string, place: SealedPlace): StoredItem {
    if (typeof item['encrypted_content'] !== 'string') return item;
    const text = this.#open(item, { kind: 'reasoning', owner }, place);
    return { ...item, summary: [{ type: 'summary_text', text }] };
  }

  #open(item: StoredItem, label: SealLabel, { path, index, budget }: SealedPlace): string {
    const param = `${path}[${index}].encrypted_content`;
    const sealed = item['encrypted_content'];
    try {
      if (typeof sealed !== 'string') throw new NotSealedHereError('it is missing');
      const text = this.sealer.open(label, sealed, budget.bytes);
      budget.bytes -= Buffer.byteLength(text);
      return text;
    } catch (cause) {
      if (cause instanceof SealedTextTooLargeError)
        throw new MegaNestError('payload_too_large', {
          what: 'The text of the sealed items',
          limit: `${maxSealedBytes} bytes`,
          param,
          cause,
        });
      if (!(cause instanceof NotSealedHereError)) throw cause;
      const detail = `${param}: cannot be read: ${cause.message}`;
      throw new MegaNestError('invalid_encrypted_content', { detail, param, cause });
    }
  }
}

function isAttachment(part: Part): boolean {
  return part['type'] === 'input_file' || part['type'] === 'input_image';
}

/** The error for a request without a text or an item whose earlier conversation is empty, too. */
export function missingInput(): MegaNestError {
  return invalidField('input', 'must be a text, or a list of at least one item');
}

/** Responses of a WebSocket that are in memory only. */
export interface UnstoredResponses {
  /** The context that a response leaves, oldest item first. */
  context(id: string): readonly StoredItem[] | undefined;
  item(id: string): StoredItem | undefined;
}

/** Loads the items before a request: the chain of its previous response, or its conversation. */
@Injectable()
export class ContextLoader {
  constructor(
    @Inject(ResponseItemsRepository) private readonly items: ResponseItemsRepository,
    @Inject(ConversationsRepository) private readonly conversations: ConversationsRepository,
  ) {}

  /**
   * Errors: previous_response_not_found, conflict where it is not finished, not_found for the conversation,
   * payload_too_large where it may not grow.
   */
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

  /** Replaces references by their items. Errors: not_found with the reference's path. */
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
    // The items of this request are added to the conversation.
    await this.conversations.requireRoom(owner);
    return (await this.conversations.items(id)) as StoredItem[];
  }
}

/** A response with `store: false` must not be stored as the context of a response that continues it. */
function assertNotStored({
  store,
  previous_response_id: id,
}: Pick<ResponseSettings, 'store' | 'previous_response_id'>): void {
  if (!store) return;
  throw invalidField(
    'store',
    `${id} is not stored, so a response that continues it cannot be stored; send store false`,
  );
}
