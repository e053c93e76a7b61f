import { createHash } from 'node:crypto';
import {
  invalidField,
  MegaNestError,
  type FileReference,
  type ParsedRequestOf,
  type ingest,
} from '#contracts';
import type { ObjectStore } from '#messaging';
import { guardedFetch } from '#service-kit';
import type { SourceFile } from '../reading/parsed-document.js';
import { withPatience } from './with-patience.js';

/** A parsed `dataprep.ingest` request. */
export type IngestRequest = ParsedRequestOf<typeof ingest>;

/** The bytes of a source, and their SHA-256 in hex. */
export interface FetchedFile extends SourceFile {
  sha256: string;
}

/** Something to ingest: a file by reference, or a link. */
export interface IngestSource {
  /** The name that it is stored under; a link's name is the link. */
  filename: string;
  /** Set for links. */
  link?: string;
  /** Field of the request that it came from, for errors. */
  param: string;
  fetch(signal: AbortSignal): Promise<FetchedFile>;
}

export interface SourceLimits {
  /** Most bytes of one file or page. */
  maxFileBytes: number;
  linkTimeoutMs: number;
  allowPrivateLinks: boolean;
}

/** Where the sources of a request are read from. */
export class SourceReader {
  constructor(
    private readonly objects: Pick<ObjectStore, 'get'>,
    private readonly limits: SourceLimits,
  ) {}

  /** The sources of a request, files first. Errors: invalid_request when there are none or two of one name. */
  sourcesOf({ files, links }: IngestRequest): IngestSource[] {
    const sources = [
      ...files.map((file, index) => this.#file(file, `files[${index}]`)),
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

  #file(reference: FileReference, param: string): IngestSource {
    const { filename, mimeType, objectId } = reference;
    const fetch = async (signal: AbortSignal) => {
      // A server of NATS that leaves its cluster is away for some seconds.
      const { bytes, sha256 } = await withPatience({ signal }, () =>
        this.#collect(objectId, filename, signal),
      );
      return { bytes, sha256, filename, mimeType };
    };
    return { filename, param, fetch };
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

  async #collect(objectId: string, filename: string, signal: AbortSignal) {
    const hash = createHash('sha256');
    const pieces: Uint8Array[] = [];
    let size = 0;
    for await (const piece of this.objects.get(objectId)) {
      if (signal.aborted) throw new MegaNestError('cancelled');
      size += piece.length;
      if (size > this.limits.maxFileBytes) {
        const limit = `${this.limits.maxFileBytes} bytes`;
        throw new MegaNestError('payload_too_large', { what: `The file ${filename}`, limit });
      }
      hash.update(piece);
      pieces.push(piece);
    }
    return { bytes: new Uint8Array(Buffer.concat(pieces)), sha256: hash.digest('hex') };
  }
}

/** A link's name in the list of documents: its normal form without the fragment. */
export function nameOfLink(link: string): string {
  const url = new URL(link);
  url.hash = '';
  return url.href;
}
