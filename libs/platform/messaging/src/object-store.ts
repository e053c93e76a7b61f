import { createHash, randomUUID } from 'node:crypto';
import { MegaNestError, type FileReference } from '#platform/contracts';
import { retry } from '#platform/foundation';
import { Objm, setSha256Backend, type ObjectStore as NatsObjectStore } from '@nats-io/obj';
import type { MessagingConnection } from './connection.js';

// The library's own SHA-256 takes 25 ms of the event loop for each MiB, so that uploads hold up all other requests.
setSha256Backend('native');

/** Name of the object store for files. */
export const bucket = 'meganest-uploads';
/**
 * Uploads that were not removed are dropped after a day: an ingest job may wait for hours before it reads its files.
 */
const lifetimeNanoseconds = 24 * 3600 * 1e9;

export interface ObjectDescription {
  filename: string;
  mimeType: string;
}

const defaultMaxBytes = 8 * 1024 ** 3;
const noRoom = /insufficient|maximum bytes|no space|resources/i;
/** Maximum wait for an unavailable store: a server restarts, or a cluster elects another leader. */
const patienceMs = 15_000;
const againMs = 250;
/** Content up to this size stays in memory until it is stored, so that it can be sent again after a failure. */
const keptBytes = 1024 * 1024;
/** Retry-After of a longer failure. */
const retryAfterSeconds = 10;
/** Error of a server of a cluster after its disk was full, until it is restarted. */
const systemOff = 'JetStream system temporarily unavailable';

/** JetStream's answer to a request for a message. */
interface StoredMessage {
  message?: { seq: number; data?: string };
  error?: { err_code: number; description: string };
}
/** JetStream's error code for a missing message. */
const noMessage = 10_037;
/** Timeout of one answer of JetStream. */
const answerMs = 5_000;

/** Settings of a new bucket; an existing bucket keeps its settings. */
export interface BucketOptions {
  /** Maximum bytes; beyond them uploads are refused. Default 8 GiB, or the server's own limit if that is less. */
  maxBytes?: number;
  /** Number of servers of a cluster with a copy. Default 1. */
  replicas?: number;
}

/**
 * Passes files between services by reference, in NATS's object store: a process does not need a whole file in memory.
 */
export class ObjectStore {
  #store: Promise<NatsObjectStore> | undefined;
  /** The connection that the handle was made on: a server that was away may have lost the bucket. */
  #madeAt = 0;

  constructor(
    private readonly connection: MessagingConnection,
    private readonly options: BucketOptions = {},
  ) {}

  /**
   * Stores the bytes as they arrive. It waits for an unavailable store, and sends content up to 1 MiB again. Errors:
   * `service_unavailable` if NATS lacks JetStream or room, or stays away; the errors of the content.
   */
  async put(
    content: Uint8Array | AsyncIterable<Uint8Array>,
    { filename, mimeType }: ObjectDescription,
  ): Promise<FileReference> {
    const objectId = randomUUID();
    const source = await Source.of(content);
    try {
      const info = await this.#patiently(
        (store) => store.put({ name: objectId }, ReadableStream.from(source.pieces())),
        () => source.mayBeginAgain,
      );
      return { objectId, filename, mimeType, bytes: info.size };
    } catch (error) {
      await source.leave();
      throw source.failure ?? error;
    }
  }

  /**
   * Yields the bytes in pieces, with a request for each: consumers of the client library, and their subscriptions,
   * would stay until the connection closes. Errors: `not_found`, and `service_unavailable`.
   */
  async *get(objectId: string): AsyncGenerator<Uint8Array, void, void> {
    const info = await this.#patiently((store) => store.info(objectId));
    if (!info || info.deleted) throw notFound(objectId);
    const { nuid, chunks, digest } = info;
    const hash = createHash('sha256');
    for (let index = 0, from = 1; index < chunks; index += 1) {
      const sequence = from;
      const { seq, data } = await this.#patiently(() => this.#nextPiece(objectId, { nuid, sequence }));
      from = seq + 1;
      hash.update(data);
      yield data;
    }
    const found = `SHA-256=${hash.digest('base64url')}`;
    if (chunks > 0 && found !== digest.replace(/=+$/, ''))
      throw this.#failed(new Error(`${objectId} does not have its digest`));
  }

  /** Returns the next piece of an object from a sequence number on. */
  async #nextPiece(
    objectId: string,
    { nuid, sequence }: { nuid: string; sequence: number },
  ): Promise<{ seq: number; data: Uint8Array }> {
    const asked = JSON.stringify({ seq: sequence, next_by_subj: `$O.${bucket}.C.${nuid}` });
    const answer = await this.connection.nats.request(`$JS.API.STREAM.MSG.GET.OBJ_${bucket}`, asked, {
      timeout: answerMs,
    });
    const { message, error } = answer.json<StoredMessage>();
    if (error?.err_code === noMessage) throw notFound(objectId);
    if (!message) throw new Error(error?.description ?? 'it answered nothing');
    return { seq: message.seq, data: Buffer.from(message.data ?? '', 'base64') };
  }

  /** Removes the object, and the marker that the store keeps for a deleted object. */
  async delete(objectId: string): Promise<void> {
    try {
      const store = await this.#open();
      await store.delete(objectId);
      const filter = `$O.${bucket}.M.${Buffer.from(objectId).toString('base64url')}`;
      await this.connection.nats.request(`$JS.API.STREAM.PURGE.OBJ_${bucket}`, JSON.stringify({ filter }));
    } catch (error) {
      throw this.#failed(error);
    }
  }

  /**
   * Removes the objects of unused files; several small files share an object. After a failure the object expires later.
   */
  async discard(files: readonly Pick<FileReference, 'objectId'>[]): Promise<void> {
    const ids = new Set(files.map(({ objectId }) => objectId));
    await Promise.allSettled([...ids].map((id) => this.delete(id)));
  }

  /** Does the work, and retries it for some time if the store is unavailable. */
  async #patiently<Result>(
    work: (store: NatsObjectStore) => Promise<Result>,
    mayRepeat = () => true,
  ): Promise<Result> {
    const until = Date.now() + patienceMs;
    const isRetryable = (failure: unknown) =>
      failure instanceof MegaNestError && this.#mayPass(failure) && mayRepeat();
    return retry({ isRetryable, firstMs: againMs, until }, async () => {
      try {
        await this.connection.whenConnected(until);
        return await work(await this.#open());
      } catch (error) {
        throw this.#failed(error);
      }
    });
  }

  /** True if the failure may be temporary: not for a lack of room or of JetStream. */
  #mayPass({ code, message }: MegaNestError): boolean {
    const { nats } = this.connection;
    if (code !== 'service_unavailable' || nats.isClosed() || noRoom.test(message)) return false;
    return nats.info?.cluster !== undefined || !/not enabled/i.test(message);
  }

  /** Returns the error for callers; the next call opens a new handle. */
  #failed(cause: unknown): MegaNestError {
    this.#store = undefined;
    if (cause instanceof MegaNestError) return cause;
    const message = cause instanceof Error ? cause.message : String(cause);
    return unavailable(
      noRoom.test(message) ? `has no room: ${message}` : `failed: ${explain(message)}`,
      cause,
    );
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
      const message = cause instanceof Error ? cause.message : '';
      throw unavailable(`cannot be opened; is JetStream enabled? ${explain(message)}`, cause);
    }
  }
}

function notFound(objectId: string): MegaNestError {
  return new MegaNestError('not_found', { what: `The uploaded object ${objectId}` });
}

function unavailable(reason: string, cause: unknown): MegaNestError {
  const detail = `its object store ${reason}`;
  return new MegaNestError('service_unavailable', {
    service: 'nats',
    detail,
    retryAfter: retryAfterSeconds,
    cause,
  });
}

function explain(message: string): string {
  return message === systemOff
    ? `${message}; servers whose disk was full leave JetStream off until they are started again`
    : message;
}

/** Content to store; distinguishes its own errors from the errors of the store. */
class Source {
  failure: Error | undefined;
  #begun = false;

  private constructor(
    private readonly beginning: readonly Uint8Array[],
    private readonly rest: AsyncIterator<Uint8Array> | undefined,
  ) {}

  /** Reads the beginning, or the whole of a small content. Errors: the errors of the content. */
  static async of(content: Uint8Array | AsyncIterable<Uint8Array>): Promise<Source> {
    if (content instanceof Uint8Array) return new Source([content], undefined);
    const rest = content[Symbol.asyncIterator]();
    const beginning: Uint8Array[] = [];
    for (let size = 0; size <= keptBytes;) {
      const piece = await rest.next();
      if (piece.done) return new Source(beginning, undefined);
      beginning.push(piece.value);
      size += piece.value.length;
    }
    return new Source(beginning, rest);
  }

  get mayBeginAgain(): boolean {
    return this.failure === undefined && (this.rest === undefined || !this.#begun);
  }

  /** Stops reading. */
  async leave(): Promise<void> {
    await this.rest?.return?.();
  }

  async *pieces(): AsyncGenerator<Uint8Array, void, void> {
    this.#begun = true;
    yield* this.beginning;
    if (!this.rest) return;
    try {
      for (;;) {
        const piece = await this.rest.next();
        if (piece.done) return;
        yield piece.value;
      }
    } catch (error) {
      this.failure = error as Error;
      throw error;
    }
  }
}
