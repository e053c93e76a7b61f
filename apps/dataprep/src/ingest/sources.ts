import { createHash } from 'node:crypto';
import {
  invalidField,
  MegaNestError,
  type FileReference,
  type ParsedRequestOf,
  type ingest,
} from '#platform/contracts';
import type { ObjectStore } from '#platform/messaging';
import { guardedFetch } from '#platform/service-kit';
import type { SourceFile } from '../reading/parsed-document.js';
import type { Opened } from './streamed-text.js';
import { storeComeBackMs, withPatience } from './with-patience.js';

/** Several small files of an upload share one object. Such an object is smaller than this. */
const maxPackBytes = 1024 * 1024;
/** Such objects in memory: files that are read at the same time are mostly neighbors. */
const maxPacks = 4;
const smallBytes = 64 * 1024;

/** A parsed `dataprep.ingest` request. */
export type IngestRequest = ParsedRequestOf<typeof ingest>;

/** The bytes of a source, and their SHA-256 in hex. */
export interface FetchedFile extends SourceFile {
  sha256: string;
}

/** Something to ingest: a file by reference, or a link. */
export interface IngestSource {
  /** Name of the stored document. The name of a link is the link. */
  filename: string;
  /** Set for links. */
  link?: string;
  /** Size, if it is known. */
  bytes?: number;
  /** Field of the request with this source, for errors. */
  param: string;
  fetch(signal: AbortSignal): Promise<FetchedFile>;
  /** Stream of the bytes, and the MIME type from the sender. Only for files that are objects of their own. */
  open?: { pieces: Opened; mimeType: string; reference: FileReference };
}

export interface SourceLimits {
  /** Limit in bytes for one file or page. */
  maxFileBytes: number;
  linkTimeoutMs: number;
  allowPrivateLinks: boolean;
}

/** Reads the sources of a request: files from the object store, links from the web. */
export class SourceReader {
  constructor(
    private readonly objects: Pick<ObjectStore, 'get'>,
    private readonly limits: SourceLimits,
  ) {}

  /** The sources of a request, files first. Errors: invalid_request without sources, or if two have the same name. */
  sourcesOf({ files, links }: IngestRequest): IngestSource[] {
    const packs = new Packs((id, filename, signal) => this.#collect(id, filename, signal, maxPackBytes));
    const sources = [
      ...files.map((file, index) => this.#file(file, `files[${index}]`, packs)),
      ...links.map((link, index) => this.#link(link, `link_list[${index}]`)),
    ];
    if (sources.length === 0) throw invalidField('files', 'send at least one file or link');
    const seen = new Set<string>();
    for (const { filename, param } of sources) {
      if (seen.has(filename))
        throw invalidField(param, `${filename} is there twice; send the path of each file as its name`);
      seen.add(filename);
    }
    return sources;
  }

  #file(reference: FileReference, param: string, packs: Packs): IngestSource {
    const { filename, mimeType, objectId } = reference;
    const fetch = async (signal: AbortSignal) => {
      // A NATS server that leaves its cluster is unavailable for some seconds.
      const { bytes, sha256 } = await withPatience({ signal, comeBackMs: storeComeBackMs }, () =>
        reference.offset === undefined
          ? this.#collect(objectId, filename, signal)
          : packs.read(reference, signal),
      );
      return { bytes, sha256, filename, mimeType };
    };
    const pieces = () => this.#bounded(objectId, filename, this.limits.maxFileBytes);
    const open = reference.offset === undefined ? { pieces, mimeType, reference } : undefined;
    return { filename, bytes: reference.bytes, param, fetch, ...(open && { open }) };
  }

  #link(link: string, param: string): IngestSource {
    const filename = nameOfLink(link);
    const { maxFileBytes: maxBytes, linkTimeoutMs: timeoutMs, allowPrivateLinks: allowPrivate } = this.limits;
    const fetch = async (signal: AbortSignal) => {
      const { bytes, mimeType } = await guardedFetch(link, {
        maxBytes,
        timeoutMs,
        allowPrivate,
        param,
        signal,
      });
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      return { bytes, sha256, filename, mimeType, fromWeb: true };
    };
    return { filename, link: filename, param, fetch };
  }

  async #collect(
    objectId: string,
    filename: string,
    signal: AbortSignal,
    maxBytes = this.limits.maxFileBytes,
  ) {
    const hash = createHash('sha256');
    const pieces: Uint8Array[] = [];
    for await (const piece of this.#bounded(objectId, filename, maxBytes)) {
      if (signal.aborted) throw new MegaNestError('cancelled');
      hash.update(piece);
      pieces.push(piece);
    }
    return { bytes: new Uint8Array(Buffer.concat(pieces)), sha256: hash.digest('hex') };
  }

  /** Yields the bytes of an object. Errors: payload_too_large, and the errors of the object store. */
  async *#bounded(
    objectId: string,
    filename: string,
    maxBytes: number,
  ): AsyncGenerator<Uint8Array, void, void> {
    let size = 0;
    for await (const piece of this.objects.get(objectId)) {
      size += piece.length;
      if (size > maxBytes) {
        const limit = `${maxBytes} bytes`;
        throw new MegaNestError('payload_too_large', { what: `The file ${filename}`, limit });
      }
      yield piece;
    }
  }
}

/** Reads an object that contains several files of a request once, and keeps the latest few. */
class Packs {
  readonly #read = new Map<string, Promise<Uint8Array>>();

  constructor(
    private readonly collect: (
      objectId: string,
      filename: string,
      signal: AbortSignal,
    ) => Promise<{ bytes: Uint8Array }>,
  ) {}

  /** Errors: the errors of the object store; invalid_request if the object is too short for the file. */
  async read(file: FileReference, signal: AbortSignal): Promise<{ bytes: Uint8Array; sha256: string }> {
    const { objectId, filename, offset = 0, bytes: size } = file;
    const reading =
      this.#read.get(objectId) ?? this.collect(objectId, filename, signal).then(({ bytes }) => bytes);
    this.#keep(objectId, reading);
    try {
      const pack = await reading;
      if (offset + size > pack.length) throw invalidField('files', `${filename} is longer than its object`);
      const bytes = pack.slice(offset, offset + size);
      return { bytes, sha256: createHash('sha256').update(bytes).digest('hex') };
    } catch (error) {
      // The next attempt reads the object again.
      this.#read.delete(objectId);
      throw error;
    }
  }

  #keep(objectId: string, reading: Promise<Uint8Array>): void {
    this.#read.delete(objectId);
    this.#read.set(objectId, reading);
    const [oldest] = this.#read.keys();
    if (this.#read.size > maxPacks && oldest !== undefined) this.#read.delete(oldest);
  }
}

/** True for a file that is small enough to be ingested with many others. */
export function isSmall({ bytes = Infinity }: Pick<IngestSource, 'bytes'>): boolean {
  return bytes <= smallBytes;
}

/** Name of a link in the list of documents: the normalized URL without its fragment. */
export function nameOfLink(link: string): string {
  const url = new URL(link);
  url.hash = '';
  return url.href;
}
