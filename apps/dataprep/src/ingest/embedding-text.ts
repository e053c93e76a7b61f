import type { DocumentChunk } from '../chunking/chunk-document.js';
import { wordSpans } from '../chunking/words.js';

/** Headings of a chunk as one line, the outermost first; also the chunk's `heading` in its metadata. */
export function headingPath(chunk: Pick<DocumentChunk, 'headings'>): string {
  return chunk.headings.join(' > ');
}

/**
 * What of a chunk is embedded: its headings, which often hold the subject that the passage only calls "it", then its
 * text. Cut into windows of at most `maxWords`, so that nothing of a chunk longer than the model's input is lost.
 */
export function embeddingTexts(chunk: DocumentChunk, maxWords: number): string[] {
  const heading = headingPath(chunk);
  return windowsOf(heading ? `${heading}\n${chunk.text}` : chunk.text, maxWords);
}

/** Even windows in order that together are the text. */
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

/** The mean of vectors at unit length; of one vector that vector. */
export function meanVector(vectors: Float32Array[]): Float32Array {
  const [first = new Float32Array()] = vectors;
  if (vectors.length === 1) return first;
  const sum = first.map((_value, index) =>
    vectors.reduce((total, vector) => total + (vector[index] ?? 0), 0),
  );
  const length = Math.hypot(...sum) || 1;
  return sum.map((value) => value / length);
}
