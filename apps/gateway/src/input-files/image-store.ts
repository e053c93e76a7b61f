import { ImageBudget, MegaNestError, type ChatMessage } from '#platform/contracts';
import { ObjectStore } from '#platform/messaging';
import { guardedFetch } from '#platform/service-kit';
import { Inject, Injectable, Module } from '@nestjs/common';
import { gatewayEnvironment, type GatewayEnvironment } from '../config/gateway.environment.js';
import { imageOfDataUrl, imageTypeOf } from './input-files.js';

type ChatImage = NonNullable<ChatMessage['images']>[number];
interface Signaled {
  readonly signal?: AbortSignal | undefined;
}

/** Puts images of chats into the object store while they are answered, because a NATS message is too small for them. */
@Injectable()
export class ImageStore {
  constructor(
    @Inject(ObjectStore) private readonly objects: ObjectStore,
    @Inject(gatewayEnvironment)
    private readonly environment: Pick<
      GatewayEnvironment,
      'UPLOAD_FILE_LIMIT_BYTES' | 'ALLOW_PRIVATE_LINKS' | 'LINK_TIMEOUT_MS'
    >,
  ) {}

  /**
   * Streams the answer to messages whose images are in the store. Errors, thrown while the answer is read: the errors of
   * the answer; invalid_request, unsupported_file, payload_too_large, forbidden_url and unreachable_url, each with the
   * path of the image.
   */
  async *lend<Chunk>(
    messages: readonly ChatMessage[],
    call: Signaled,
    answer: (messages: ChatMessage[]) => AsyncIterable<Chunk>,
  ): AsyncGenerator<Chunk> {
    const stored: string[] = [];
    try {
      yield* answer(await this.#storeAll(messages, stored, call));
    } finally {
      await this.#delete(stored);
    }
  }

  /** As {@link lend}, for work with one result. */
  async lendFor<Result>(
    messages: readonly ChatMessage[],
    call: Signaled,
    work: (messages: ChatMessage[]) => Promise<Result>,
  ): Promise<Result> {
    const stored: string[] = [];
    try {
      return await work(await this.#storeAll(messages, stored, call));
    } finally {
      await this.#delete(stored);
    }
  }

  /** Stores the images of a conversation, and adds their ids to `stored`. Returns the messages with the stored images. */
  async #storeAll(
    messages: readonly ChatMessage[],
    stored: string[],
    call: Signaled,
  ): Promise<ChatMessage[]> {
    const budget = new ImageBudget();
    const lent: ChatMessage[] = [];
    for (const message of messages) {
      const { images, ...rest } = message;
      if (!images) lent.push(message);
      else lent.push({ ...rest, images: await this.#store(images, { stored, budget }, call) });
    }
    return lent;
  }

  async #delete(stored: readonly string[]): Promise<void> {
    await Promise.allSettled(stored.map((id) => this.objects.delete(id)));
  }

  /** Stores the images one after the other, so that the memory stays within the limit of all images together. */
  async #store(
    images: readonly ChatImage[],
    { stored, budget }: { stored: string[]; budget: ImageBudget },
    call: Signaled,
  ): Promise<ChatImage[]> {
    const { UPLOAD_FILE_LIMIT_BYTES: maxBytes } = this.environment;
    const sent: ChatImage[] = [];
    for (const { url = '', detail, at, param = 'messages' } of images) {
      const bytes = await budget.load({ param, maxBytes }, (most) => this.#load(url, param, most, call));
      const mimeType = imageTypeOf(bytes, param);
      const file = await this.objects.put(bytes, { filename: 'image', mimeType });
      stored.push(file.objectId);
      sent.push({ file, param, ...(detail !== undefined && { detail }), ...(at !== undefined && { at }) });
    }
    return sent;
  }

  async #load(url: string, param: string, maxBytes: number, call: Signaled): Promise<Uint8Array> {
    if (!url.startsWith('data:')) {
      const { ALLOW_PRIVATE_LINKS: allowPrivate, LINK_TIMEOUT_MS: timeoutMs } = this.environment;
      const options = { maxBytes, timeoutMs, allowPrivate, param, signal: call.signal };
      return (await guardedFetch(url, options)).bytes;
    }
    const bytes = imageOfDataUrl(url, param);
    if (bytes.length <= maxBytes) return bytes;
    throw new MegaNestError('payload_too_large', { what: 'The image', limit: `${maxBytes} bytes`, param });
  }
}

/** Images of chats in the object store. */
@Module({ providers: [ImageStore], exports: [ImageStore] })
export class ImageStoreModule {}
