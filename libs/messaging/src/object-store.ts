import { randomUUID } from 'node:crypto';
import { MegaNestError, type FileReference } from '#contracts';
import { Objm, type ObjectStore as NatsObjectStore } from '@nats-io/obj';
import type { MessagingConnection } from './connection.js';

/** Name of the object store that files lie in. */
export const bucket = 'meganest-uploads';
/** Uploads that nobody fetched are dropped after this long. */
const lifetimeNanoseconds = 3600 * 1e9;

export interface ObjectDescription {
  filename: string;
  mimeType: string;
}

/** Carries files between services by reference, in NATS's object store: no process has them whole in memory. */
export class ObjectStore {
  #store: Promise<NatsObjectStore> | undefined;

  constructor(private readonly connection: MessagingConnection) {}

  /** Stores the bytes as they come. Errors: `service_unavailable` when NATS runs without JetStream. */
  async put(
    content: Uint8Array | AsyncIterable<Uint8Array>,
    { filename, mimeType }: ObjectDescription,
  ): Promise<FileReference> {
    const store = await this.#open();
    const objectId = randomUUID();
    const info = await store.put({ name: objectId }, toReadableStream(content));
    return { objectId, filename, mimeType, bytes: info.size };
  }

  /** The bytes in pieces. Errors: `not_found`. */
  async *get(objectId: string): AsyncGenerator<Uint8Array, void, void> {
    const result = await (await this.#open()).get(objectId);
    if (!result) throw new MegaNestError('not_found', { what: `The uploaded object ${objectId}` });
    for await (const piece of result.data) yield piece;
    const error = await result.error;
    if (error) throw error;
  }

  async delete(objectId: string): Promise<void> {
    await (await this.#open()).delete(objectId);
  }

  async #open(): Promise<NatsObjectStore> {
    this.#store ??= new Objm(this.connection.nats).create(bucket, { ttl: lifetimeNanoseconds });
    try {
      return await this.#store;
    } catch (cause) {
      this.#store = undefined;
      const detail = `its object store cannot be opened; is JetStream enabled? ${cause instanceof Error ? cause.message : ''}`;
      throw new MegaNestError('service_unavailable', { service: 'nats', detail, cause });
    }
  }
}

function toReadableStream(content: Uint8Array | AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  const pieces = content instanceof Uint8Array ? [content] : content;
  return ReadableStream.from(pieces);
}
