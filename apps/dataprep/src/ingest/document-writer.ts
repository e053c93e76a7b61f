import { eventsOf } from '#platform/foundation';
import { MegaNestError, timeFields, type IngestedDocument, type IngestProgress } from '#platform/contracts';
import type { CallOptions } from '#platform/messaging';
import type { DocumentsRepository, NewChunk, ReplaceOutcome } from '#platform/storage';
import type { DocumentChunk } from '../chunking/chunk-document.js';
import { countWords, wordSpans } from '../chunking/text-units.js';
import type { LoadedDocument } from './document-loader.js';
import type { IngestContext } from './ingest-context.js';
import { reportOf, type PreparedDocument } from './prepare-document.js';

type PassedOn = CallOptions & { signal: AbortSignal; deadline: number };

/**
 * Embeds a prepared document and stores it. The first chunks of a large document are written while later ones are
 * embedded; readers see the document only when it is complete. Streams progress and returns the stored document.
 * Errors: the errors of embedding and storing, cancelled.
 */
export async function* writeDocument(
  documents: Pick<DocumentsRepository, 'replaceDocument'>,
  loaded: LoadedDocument,
  context: IngestContext,
  call: PassedOn,
): AsyncGenerator<IngestProgress, IngestedDocument, void> {
  const { content, link: source, ...file } = loaded;
  const { filename } = file;
  if ('unchanged' in content) {
    const { id, chunks, reading } = content.unchanged;
    return { documentId: id, filename, chunks, outcome: 'unchanged', ...reading };
  }
  const { collection, owner, metadata, embeddingModel } = context;
  const reading = 'prepared' in content ? reportOf(content.prepared) : content.reading;
  const facts = { ...file, source, collection, owner, metadata, embeddingModel, reading };
  let total = 0;
  const store = async (onEvent: (event: IngestProgress) => void, signal: AbortSignal) => {
    const progress = (stage: 'embedding' | 'storing', completed: number) =>
      onEvent({ stage, filename, completed, total });
    let done = 0;
    const embedded = async function* () {
      for await (const part of 'prepared' in content ? [content.prepared] : content.sections) {
        const before = done;
        // The total of a text in sections grows with each section.
        total += part.chunks.length;
        yield* embedChunks(part, context, signal, (completed) =>
          progress('embedding', (done = before + completed)),
        );
      }
    };
    const chunks = embedded();
    const outcome = await documents.replaceDocument(
      facts,
      thenCall(chunks, () => progress('storing', 0)),
    );
    progress('storing', total);
    return outcome;
  };
  let storing: Promise<ReplaceOutcome> | undefined;
  try {
    yield* eventsOf<IngestProgress>((...given) => (storing = store(...given)), call.signal);
  } finally {
    // After an early exit the clean-up must end before other work begins.
    await storing?.catch(() => undefined);
  }
  const stored = await storing;
  if (!stored) throw new MegaNestError('cancelled');
  return { ...stored, filename, ...reading };
}

/** Yields the chunks with their vectors, batch by batch. `onProgress` gets the number of embedded chunks. */
async function* embedChunks(
  document: PreparedDocument,
  { embedder, maxEmbeddedWords, metadata }: IngestContext,
  signal: AbortSignal,
  onProgress: (completed: number) => void,
): AsyncGenerator<NewChunk[], void, void> {
  const texts = document.chunks.map((chunk) => embeddingTexts(chunk, maxEmbeddedWords));
  const vectors: Float32Array[] = [];
  let completed = 0;
  onProgress(0);
  for await (const batch of embedder.embedAll(texts.flat(), signal)) {
    vectors.push(...batch);
    const chunks: NewChunk[] = [];
    for (let chunk = document.chunks[completed]; chunk; chunk = document.chunks[completed]) {
      const windows = texts[completed]?.length ?? 0;
      if (vectors.length < windows) break;
      const embedding = meanVector(vectors.splice(0, windows));
      chunks.push({ text: chunk.text, metadata: chunkMetadata(document, chunk, metadata), embedding });
      completed += 1;
    }
    onProgress(completed);
    yield chunks;
  }
  if (signal.aborted) throw new MegaNestError('cancelled');
}

async function* thenCall<Item>(
  items: AsyncIterable<Item>,
  end: () => void,
): AsyncGenerator<Item, void, void> {
  yield* items;
  end();
}

/** Metadata of a chunk: the fields of ChunkMetadata in #contracts, and the guessed encoding. The user's date counts more. */
export function chunkMetadata(
  { title, date, assumedEncoding }: PreparedDocument,
  chunk: DocumentChunk,
  given: Record<string, unknown> = {},
): Record<string, unknown> {
  const heading = headingPath(chunk);
  return {
    ...(title && { title }),
    ...(date && given['date'] === undefined && { date }),
    ...(heading && { heading }),
    ...(chunk.blocks && { blocks: chunk.blocks }),
    ...(chunk.continues && { continues: true }),
    ...(chunk.page !== undefined && { page: chunk.page }),
    ...(chunk.pageBreaks && { page_breaks: chunk.pageBreaks }),
    ...(chunk.pageLabels && { page_labels: chunk.pageLabels }),
    ...(chunk.time && timeFields(chunk.time)),
    ...(chunk.timeBreaks && { time_breaks: chunk.timeBreaks }),
    ...(chunk.places && { places: chunk.places }),
    ...(assumedEncoding && { encoding: assumedEncoding }),
  };
}

/** Headings of a chunk as one line, the outermost first. The metadata field `heading` has the same text. */
function headingPath(chunk: Pick<DocumentChunk, 'headings'>): string {
  return chunk.headings.join(' > ');
}

/**
 * Texts to embed for a chunk: its headings, then its text. The headings often name a subject that the text only calls
 * "it". A chunk that is longer than the input of the model becomes several windows of at most `maxWords` words.
 */
export function embeddingTexts(chunk: DocumentChunk, maxWords: number): string[] {
  return embeddingTextsOf(headingPath(chunk), chunk.text, maxWords);
}

/** {@link embeddingTexts} of a chunk as it is stored: its headings as one line, and its text. */
export function embeddingTextsOf(heading: string, content: string, maxWords: number): string[] {
  const text = heading ? `${heading}\n${content}` : content;
  return countWords(text) <= maxWords ? [text] : windowsOf(text, maxWords);
}

/** Splits a text into windows of similar size, in order. */
export function windowsOf(text: string, maxWords: number): string[] {
  const spans = wordSpans(text);
  const count = Math.ceil(spans.length / maxWords);
  if (count <= 1) return [text];
  const size = Math.ceil(spans.length / count);
  return Array.from({ length: Math.ceil(spans.length / size) }, (_unused, index) => {
    const last = Math.min((index + 1) * size, spans.length) - 1;
    return text.slice(spans[index * size]?.start, spans[last]?.end);
  });
}

/** Mean of the vectors, scaled to unit length. A single vector is returned unchanged. */
export function meanVector(vectors: Float32Array[]): Float32Array {
  const [first = new Float32Array()] = vectors;
  if (vectors.length === 1) return first;
  const sum = first.map((_value, index) =>
    vectors.reduce((total, vector) => total + (vector[index] ?? 0), 0),
  );
  const length = Math.hypot(...sum) || 1;
  return sum.map((value) => value / length);
}
