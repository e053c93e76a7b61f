import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { FairTurns } from '#platform/foundation';
import { MegaNestError, type ReadingReport } from '#platform/contracts';
import type { DocumentsRepository, DocumentVersion } from '#platform/storage';
import { isMedia } from '../reading/media/media-type.js';
import type { DocumentPreparer } from './document-preparer.js';
import type { IngestContext } from './ingest-context.js';
import type { MediaCall, MediaReader, StoredMedia } from './media/media-reader.js';
import { reportOf, splitDocument, type OnPart, type PreparedDocument } from './prepare-document.js';
import { isSmall, type FetchedFile, type IngestSource } from './sources.js';
import {
  inspectText,
  prepareSections,
  sectionsOfText,
  streamedBytes,
  streamedFacts,
} from './streamed-text.js';
import { storeComeBackMs, withPatience } from './with-patience.js';

/** Version of reading and chunking. Increase it after a change there, so that documents are read again. */
const readerVersion = 6;
/** Limit for large files of one client that are read at the same time, over all its requests. */
export const maxLoading = 2;
/** The same for small files, which hardly wait for each other. */
const maxSmallLoading = 64;
/** Files that other clients may read in addition. */
const extra = { large: 1, small: 16 };
/** A client may have as many documents waiting as the jobs and requests of a usual import. */
const waiting = { service: 'dataprep', what: 'documents', waitingOfOne: 10_000 };

/** A fetched source. It is not read if the same document is already stored. */
export interface LoadedDocument {
  filename: string;
  link?: string;
  mimeType: string;
  bytes: number;
  contentHash: string;
  /** Reads the bytes of the file again. */
  original?: () => AsyncIterable<Uint8Array>;
  content:
    | { unchanged: DocumentVersion }
    | { prepared: PreparedDocument }
    /** A large text, section by section. */
    | { sections: AsyncIterable<PreparedDocument>; reading: ReadingReport };
}

/** A document, or a recording that waits for its transcription. */
type FetchedDocument =
  LoadedDocument | (Omit<LoadedDocument, 'content'> & { content: { media: StoredMedia } });

/** Fetches, reads and splits sources, a few at a time. */
export class DocumentLoader {
  readonly #turns = new FairTurns({ ...waiting, slots: maxLoading + extra.large, slotsOfOne: maxLoading });
  readonly #smallTurns = new FairTurns({
    ...waiting,
    slots: maxSmallLoading + extra.small,
    slotsOfOne: maxSmallLoading,
  });

  constructor(
    private readonly preparer: DocumentPreparer,
    private readonly documents: Pick<DocumentsRepository, 'findVersion'>,
    private readonly media: MediaReader,
  ) {}

  /**
   * `onPart` gets the progress within the document. Errors: unsupported_file, forbidden_url, unreachable_url …, each with the
   * source's field as `param`.
   */
  async load(
    source: IngestSource,
    context: IngestContext,
    call: MediaCall,
    onPart: OnPart,
  ): Promise<LoadedDocument> {
    const { signal } = call;
    try {
      const turns = isSmall(source) ? this.#smallTurns : this.#turns;
      const fetched = await turns.run(() => this.#load(source, context, call, onPart), { signal });
      const { content, ...facts } = fetched;
      if (!('media' in content)) return { ...facts, content };
      // Not in its turn: a transcription takes long, and its file is not in memory here.
      const document = await this.media.read(content.media, call, onPart);
      return { ...facts, content: { prepared: splitDocument(document, context.chunking) } };
    } catch (error) {
      if (!(error instanceof MegaNestError) || error.status >= 499) throw error;
      throw MegaNestError.fromBody({ ...error.toBody(), param: source.param });
    }
  }

  async #load(
    source: IngestSource,
    context: IngestContext,
    call: MediaCall,
    onPart: OnPart,
  ): Promise<FetchedDocument> {
    const { signal } = call;
    const { open, bytes = 0 } = source;
    if (open && bytes >= streamedBytes) {
      const streamed = await this.#stream({ ...source, open }, context, signal);
      if (streamed) return streamed;
    }
    const file = await source.fetch(signal);
    const transcribedBy = isMedia(file.bytes) ? await this.media.model(file.filename, call) : undefined;
    const facts = factsOf(source, file, context, transcribedBy);
    const unchanged = await this.#findSame(facts, context);
    if (unchanged) return { ...facts, content: { unchanged } };
    const { chunking, reading } = context;
    const { sha256: _hash, ...sourceFile } = file;
    // A large file is read from the object store again, so that it is not in memory while its chunks are embedded.
    const original = open?.pieces ?? (() => Readable.from([file.bytes]));
    if (transcribedBy !== undefined) {
      const media = await this.media.store(file, open?.reference);
      return { ...facts, original, content: { media } };
    }
    const task = { file: { ...sourceFile, ...reading }, chunking };
    return { ...facts, original, content: { prepared: await this.preparer.prepare(task, signal, onPart) } };
  }

  /** Loads a large plain text; undefined if the file has another type. */
  async #stream(
    source: IngestSource & Required<Pick<IngestSource, 'open'>>,
    context: IngestContext,
    signal: AbortSignal,
  ): Promise<LoadedDocument | undefined> {
    const { filename, open } = source;
    const { mimeType } = open;
    const text = await withPatience({ signal, comeBackMs: storeComeBackMs }, () =>
      inspectText(open.pieces, { filename, mimeType, ...context.reading }, signal),
    );
    if (!text) return undefined;
    const facts = factsOf(source, { ...text, filename, mimeType }, context);
    const unchanged = await this.#findSame(facts, context);
    if (unchanged) return { ...facts, content: { unchanged } };
    const { chunking } = context;
    const prepare = (section: string) => {
      const file = { filename, mimeType: 'text/plain', bytes: new TextEncoder().encode(section) };
      return this.preparer.prepare({ file, chunking }, signal);
    };
    const sections = prepareSections(sectionsOfText(open.pieces(), text.encoding), text, prepare);
    return { ...facts, original: open.pieces, content: { sections, reading: reportOf(streamedFacts(text)) } };
  }

  async #findSame(
    { filename, contentHash }: Pick<LoadedDocument, 'filename' | 'contentHash'>,
    context: IngestContext,
  ): Promise<DocumentVersion | undefined> {
    const present = await this.documents.findVersion({ ...context, filename });
    const isSame = present?.contentHash === contentHash && present.embeddingModel === context.embeddingModel;
    return isSame ? present : undefined;
  }
}

type HashedFile = Pick<FetchedFile, 'sha256' | 'filename' | 'mimeType' | 'fromWeb'> & {
  bytes: number | Uint8Array;
};

/** `transcribedBy`: the model of a recording, whose text is another one with another model. */
function factsOf({ link }: IngestSource, file: HashedFile, context: IngestContext, transcribedBy?: string) {
  const { filename, mimeType } = file;
  const bytes = typeof file.bytes === 'number' ? file.bytes : file.bytes.length;
  return { filename, link, mimeType, bytes, contentHash: hashOf(file, context, transcribedBy) };
}

/**
 * Hash of everything that determines the chunks. The MIME type of an upload is left out: it differs between clients and
 * rarely matters.
 */
function hashOf(
  { sha256, mimeType, fromWeb }: HashedFile,
  { chunking, metadata, reading }: IngestContext,
  transcribedBy: string | undefined,
): string {
  const { chunkSize, chunkOverlap } = chunking;
  const facts = JSON.stringify([
    readerVersion,
    sha256,
    fromWeb && mimeType,
    chunkSize,
    chunkOverlap,
    metadata,
    reading,
    ...(transcribedBy === undefined ? [] : [transcribedBy]),
  ]);
  return createHash('sha256').update(facts).digest('hex');
}
