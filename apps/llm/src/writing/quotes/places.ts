import { countWords, sentencesIn } from '#platform/foundation';
import type { RetrievedDocument } from '#platform/contracts';
import type { Answer } from '#answers/extractive';
import type { EmbedTexts } from '../extractive-writer.js';

/** A sentence of a passage. `passage`: from 1. */
export interface Place {
  readonly text: string;
  readonly passage: number;
  readonly document: RetrievedDocument;
}

/** A quoted answer about whole documents, and the tokens that the embedding model read. */
export interface WholeAnswer {
  readonly answer: Answer;
  readonly promptTokens: number;
}

/** Longer sentences are lists. */
const maxWords = 60;

/** Yields the sentences of passages. */
export function* placesOf(documents: readonly RetrievedDocument[]): Generator<Place, void, void> {
  for (const [index, document] of documents.entries())
    for (const text of sentencesIn(document.text)) {
      const words = countWords(text);
      if (/\p{L}/u.test(text) && words >= 2 && words <= maxWords)
        yield { text, passage: index + 1, document };
    }
}

/** The block of a quoted sentence, with a text before it. */
export function blockOf(lead: string, { text, passage, document }: Place) {
  return {
    lead,
    text,
    answer: { start: 0, end: text.length },
    quote: text,
    passage,
    documentId: document.id,
  };
}

/** Unit vectors of sentences. */
export async function embedded(places: readonly Place[], embed: EmbedTexts, signal: AbortSignal) {
  if (places.length === 0) return { vectors: [], promptTokens: 0 };
  return embed(
    places.map(({ text }) => text),
    signal,
  );
}
