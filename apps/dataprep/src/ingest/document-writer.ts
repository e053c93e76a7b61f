import type { IngestedDocument, IngestProgress } from '#contracts';
import type { CallOptions } from '#messaging';
import type { DocumentsRepository, NewChunk } from '#storage';
import type { DocumentChunk } from '../chunking/chunk-document.js';
import type { LoadedDocument } from './document-loader.js';
import { embeddingTexts, headingPath, meanVector } from './embedding-text.js';
import type { EmbeddingClient } from './embedding.client.js';
import type { IngestContext } from './ingest-context.js';
import type { PreparedDocument } from './prepare-document.js';

type PassedOn = CallOptions & { signal: AbortSignal; deadline: number };

/** Embeds a prepared document and stores it whole, in one transaction at the very end. */
export class DocumentWriter {
  constructor(
    private readonly embedding: EmbeddingClient,
    private readonly documents: Pick<DocumentsRepository, 'replaceDocument'>,
  ) {}

  /** Streams progress; returns what became of the document. Errors: of embedding and storing, cancelled. */
  async *write(
    loaded: LoadedDocument,
    context: IngestContext,
    call: PassedOn,
  ): AsyncGenerator<IngestProgress, IngestedDocument, void> {
    const { filename, link, mimeType, bytes, contentHash, content } = loaded;
    if ('unchanged' in content) {
      const { id, chunks } = content.unchanged;
      return { documentId: id, filename, chunks, outcome: 'unchanged' };
    }
    const chunks = yield* this.#embed(filename, content.prepared, context, call);
    yield { stage: 'storing', filename, completed: 0, total: chunks.length };
    call.signal.throwIfAborted();
    const { collection, owner, metadata, embeddingModel } = context;
    const facts = {
      collection,
      owner,
      filename,
      source: link,
      contentHash,
      mimeType,
      bytes,
      metadata,
      embeddingModel,
    };
    const stored = await this.documents.replaceDocument(facts, chunks);
    yield { stage: 'storing', filename, completed: chunks.length, total: chunks.length };
    return { ...stored, filename };
  }

  async *#embed(
    filename: string,
    document: PreparedDocument,
    { maxEmbeddedWords }: IngestContext,
    call: PassedOn,
  ): AsyncGenerator<IngestProgress, NewChunk[], void> {
    const total = document.chunks.length;
    const texts = document.chunks.map((chunk) => embeddingTexts(chunk, maxEmbeddedWords));
    const vectors: Float32Array[] = [];
    const chunks: NewChunk[] = [];
    yield { stage: 'embedding', filename, completed: 0, total };
    for await (const batch of this.embedding.embedAll(texts.flat(), call)) {
      vectors.push(...batch);
      for (let chunk = document.chunks[chunks.length]; chunk; chunk = document.chunks[chunks.length]) {
        const windows = texts[chunks.length]?.length ?? 0;
        if (vectors.length < windows) break;
        const embedding = meanVector(vectors.splice(0, windows));
        chunks.push({ text: chunk.text, metadata: chunkMetadata(document, chunk), embedding });
      }
      yield { stage: 'embedding', filename, completed: chunks.length, total };
    }
    return chunks;
  }
}

/** What a chunk knows of itself; names as in the contracts' ChunkMetadata, and a guessed encoding. */
function chunkMetadata(
  { title, assumedEncoding }: PreparedDocument,
  chunk: DocumentChunk,
): Record<string, unknown> {
  const heading = headingPath(chunk);
  return {
    ...(title && { title }),
    ...(heading && { heading }),
    ...(chunk.blocks && { blocks: chunk.blocks }),
    ...(chunk.page !== undefined && { page: chunk.page }),
    ...(chunk.pageBreaks && { page_breaks: chunk.pageBreaks }),
    ...(assumedEncoding && { encoding: assumedEncoding }),
  };
}
