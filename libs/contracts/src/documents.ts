import { z } from 'zod';

/** Free-form values that a chunk or document carries; filters match on them. */
export const metadataSchema = z.record(z.string(), z.unknown());

/** Where documents go, and where passages are searched, when no collection is named. */
export const defaultCollection = 'default';

/**
 * True of the names that collections of vector stores have. Callers get a clear error for them; what keeps others out is
 * the owner that each of their documents and chunks has.
 */
export function isVectorStore(collection: string): boolean {
  return collection.startsWith('vs_');
}

/** A passage as retrieval and reranking hand it on. Scores are comparable only within one reply. */
export const retrievedDocumentSchema = z.object({
  id: z.string().describe('Id of the chunk'),
  text: z.string(),
  score: z.number(),
  similarity: z
    .number()
    .optional()
    .describe('Cosine similarity to the query, where the search compared vectors'),
  metadata: metadataSchema.default({}),
});
export type RetrievedDocument = z.infer<typeof retrievedDocumentSchema>;

/** What ingestion writes into each chunk's metadata, beside the user's own attributes. */
export interface ChunkMetadata {
  document_id: string;
  filename: string;
  /** The link it was read from, where it came from a link. */
  source?: string;
  title?: string;
  /** Headings from the outermost to the innermost, joined by ` > `. */
  heading?: string;
  /** Kinds of the text's parts between blank lines, a letter each: p(aragraph), i(tem), r(ow), c(ode). */
  blocks?: string;
  /** Page on which the text begins; paged formats only. */
  page?: number;
  /** Where further pages begin in the text: `offset:page`, parted by spaces. */
  page_breaks?: string;
  chunk_index: number;
}

/** The page on which a quote of a passage begins, that of the passage where it is not found; undefined without pages. */
export function pageOfQuote({ text, metadata }: RetrievedDocument, quote: string): number | undefined {
  const { page, page_breaks: breaks } = metadata;
  if (typeof page !== 'number') return undefined;
  const start = Math.max(quote ? text.indexOf(quote) : 0, 0);
  const pairs =
    typeof breaks === 'string' ? breaks.split(' ').map((pair) => pair.split(':').map(Number)) : [];
  return pairs.findLast(([offset = 0]) => offset <= start)?.[1] ?? page;
}

/** Control characters, halves of surrogate pairs and line separators: a database drops or replaces some of them. */
const unwritable = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u;

/**
 * A name that callers choose, at most `longest` characters. It reaches every check and the database as it is: a name that
 * a later step would change is refused.
 */
export function nameSchema(longest: number) {
  return z
    .string()
    .min(1)
    .max(longest)
    .refine((name) => !unwritable.test(name), 'has a control character');
}
