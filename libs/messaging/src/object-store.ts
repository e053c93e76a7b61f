import { randomUUID } from 'node:crypto';
import { MegaNestError, type FileReference } from '#contracts';
import { Objm, type ObjectStore as NatsObjectStore } from '@nats-io/obj';
import type { MessagingConnection } from './connection.js';

/** Name of the object store that files lie in. */
export const bucket = 'meganest-uploads';
/** Uploads that were not removed are dropped after a day: an ingest job may wait for hours before it reads its files. */
const lifetimeNanoseconds = 24 * 3600 * 1e9;

export interface ObjectDescription {
  filename: string;
  mimeType: string;
}

const defaultMaxBytes = 8 * 1024 ** 3;
const noRoom = /insufficient|maximum bytes|no space|resources/i;

/** What the bucket is made with; one that exists keeps what it has. */
export interface BucketOptions {
  /** Most bytes that it holds; beyond them uploads are refused. Default 8 GiB, or the server's own bound where that is less. */
  maxBytes?: number;
  /** Servers of a cluster that hold a copy. Default 1. */
  replicas?: number;
}

/** Carries files between services by reference, in NATS's object store: no process has them whole in memory. */
export class ObjectStore {
  #store: Promise<NatsObjectStore> | undefined;
  /** The connection that the handle was made on: a server that was away may have lost the bucket. */
  #madeAt = 0;

  constructor(
    private readonly connection: MessagingConnection,
    private readonly options: BucketOptions = {},
  ) {}

  /** Stores the bytes as they come. Errors: `service_unavailable` where NATS has no JetStream, no room, or is away; those of the content. */
  async put(
    content: Uint8Array | AsyncIterable<Uint8Array>,
    { filename, mimeType }: ObjectDescription,
  ): Promise<FileReference> {
    const objectId = randomUUID();
    const source = new Source(content);
    try {
      const store = await this.#open();
      const info = await store.put({ name: objectId }, ReadableStream.from(source.pieces()));
      return { objectId, filename, mimeType, bytes: info.size };
    } catch (error) {
      throw source.failure ?? this.#failed(error);
    }
  }

  /** The bytes in pieces. Errors: `not_found`, and `service_unavailable`. */
  async *get(objectId: string): AsyncGenerator<Uint8Array, void, void> {
    const result = await this.#try((store) => store.get(objectId));
    if (!result) throw new MegaNestError('not_found', { what: `The uploaded object ${objectId}` });
    for await (const piece of result.data) yield piece;
    const error = await result.error;
    if (error) throw this.#failed(error);
  }

  async delete(objectId: string): Promise<void> {
    await this.#try((store) => store.delete(objectId));
  }

  /** Removes the objects of files that are done with; several small ones share an object. What fails goes by its age. */
  async discard(files: readonly Pick<FileReference, 'objectId'>[]): Promise<void> {
    const ids = new Set(files.map(({ objectId }) => objectId));
    await Promise.allSettled([...ids].map((id) => this.delete(id)));
  }

  async #try<Result>(work: (store: NatsObjectStore) => Promise<Result>): Promise<Result> {
    try {
      return await work(await this.#open());
    } catch (error) {
      throw this.#failed(error);
    }
  }

  /** What went wrong, for callers; the next one makes a new handle. */
  #failed(cause: unknown): MegaNestError {
    this.#store = undefined;
    if (cause instanceof MegaNestError) return cause;
    const message = cause instanceof Error ? cause.message : String(cause);
    const isFull = noRoom.test(message);
    const detail = isFull
      ? `its object store has no room: ${message}`
      : `its object store failed: ${message}`;
    return new MegaNestError('service_unavailable', {
      service: 'nats',
      detail,
      retryAfter: isFull ? 10 : 1,
      cause,
    });
  }

  async #open(): Promise<NatsObjectStore> {
    this.connection.assertConnected();
    const { reconnects } = this.connection;
    if (reconnects !== this.#madeAt) this.#store = undefined;
    this.#madeAt = reconnects;
    this.#store ??= this.#make();
    return this.#store;
  }

  #create(maxBytes?: number): Promise<NatsObjectStore> {
    const { replicas } = this.options;
    return new Objm(this.connection.nats).create(bucket, {
      ttl: lifetimeNanoseconds,
      ...(maxBytes !== undefined && { max_bytes: maxBytes }),
      ...(replicas !== undefined && { replicas }),
    });
  }

  async #make(): Promise<NatsObjectStore> {
    const { maxBytes = defaultMaxBytes } = this.options;
    try {
      return await this.#create(maxBytes).catch((error: unknown) => {
        // A server that reserves less than the default has a bound of its own.
        if (this.options.maxBytes !== undefined || !noRoom.test(String(error))) throw error;
        return this.#create();
      });
    } catch (cause) {
      const detail = `its object store cannot be opened; is JetStream enabled? ${cause instanceof Error ? cause.message : ''}`;
      throw new MegaNestError('service_unavailable', { service: 'nats', detail, retryAfter: 1, cause });
    }
  }
}

/** Content on its way in; tells its own failure from that of the store. */
class Source {
  failure: Error | undefined;

  constructor(private readonly content: Uint8Array | AsyncIterable<Uint8Array>) {}

  async *pieces(): AsyncGenerator<Uint8Array, void, void> {
    const { content } = this;
    try {
      if (content instanceof Uint8Array) yield content;
      else yield* content;
    } catch (error) {
      this.failure = error as Error;
      throw error;
    }
  }
}
