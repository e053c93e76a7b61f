import { z } from 'zod';

/** Free-form values of a chunk or document; filters match on them. */
export const metadataSchema = z.record(z.string(), z.unknown());

/** Bounds of the attributes that a caller gives a document: each of its chunks has them. A filter takes as long ones. */
const maxFields = 64;
const maxNameCharacters = 64;
const maxTextCharacters = 512;
const maxMetadataCharacters = 16_000;

/** The attributes of a document from a caller. */
export const givenMetadataSchema = metadataSchema.superRefine((value, context) => {
  const refuse = (message: string, path: string[] = []) =>
    context.addIssue({ code: 'custom', path, message });
  const names = Object.keys(value);
  if (names.length > maxFields) return refuse(`must have at most ${maxFields} fields`);
  if (names.some((name) => name.length > maxNameCharacters))
    return refuse(`the names of its fields must have at most ${maxNameCharacters} characters`);
  if (JSON.stringify(value).length > maxMetadataCharacters)
    return refuse(`must have at most ${maxMetadataCharacters} characters in all`);
  const long = names.find((name) => hasLongText(value[name]));
  if (long !== undefined) refuse(`texts must have at most ${maxTextCharacters} characters`, [long]);
});

function hasLongText(value: unknown): boolean {
  if (typeof value === 'string') return value.length > maxTextCharacters;
  return typeof value === 'object' && value !== null && Object.values(value).some(hasLongText);
}

/** The collection for documents and searches that do not name one. */
export const defaultCollection = 'default';

/**
 * True for the collection names of vector stores. Callers get a clear error for such names. Access control does not
 * depend on it: each document and chunk of a vector store has an owner.
 */
export function isVectorStore(collection: string): boolean {
  return collection.startsWith('vs_');
}

/** A passage in the replies of retrieval and reranking. Scores are comparable only within one reply. */
export const retrievedDocumentSchema = z.object({
  id: z.string().describe('Id of the chunk'),
  text: z.string(),
  score: z.number(),
  similarity: z
    .number()
    .optional()
    .describe('Cosine similarity to the query, if the search compared vectors'),
  metadata: metadataSchema.default({}),
});
export type RetrievedDocument = z.infer<typeof retrievedDocumentSchema>;

/** A passage without a score: it was not found itself. */
export const neighbourSchema = retrievedDocumentSchema.pick({ id: true, text: true, metadata: true });
export type Neighbour = z.infer<typeof neighbourSchema>;

/** Neighbours as documents to cite. They were not found, so that they have no score of a search. */
export function asDocuments(neighbours: readonly Neighbour[]): RetrievedDocument[] {
  return neighbours.map((neighbour) => ({ ...neighbour, score: 0 }));
}

/** The metadata that ingestion writes into each chunk, in addition to the user's attributes. */
export interface ChunkMetadata {
  document_id: string;
  filename: string;
  /** The link that the document was read from, if it came from a link. */
  source?: string;
  title?: string;
  /** What the document says about its date, unless the user's attributes have one. */
  date?: string;
  /** Headings from the outermost to the innermost, joined by ` > `. */
  heading?: string;
  /** The kind of each part of the text between blank lines, one letter each: p(aragraph), i(tem), r(ow), c(ode). */
  blocks?: string;
  /** The text begins within a paragraph, an item or a row that the chunk before began. */
  continues?: true;
  /** Page on which the text begins; paged formats only. */
  page?: number;
  /** The starts of further pages in the text: `offset:page`, separated by spaces. */
  page_breaks?: string;
  /** What its pages are called, by their numbers, where that is not the number: `{"4": "iv"}`. */
  page_labels?: Record<string, string>;
  /** When the text is said, for a reader and in seconds from the beginning; recordings only. */
  time?: string;
  start_seconds?: number;
  end_seconds?: number;
  /** The times of several paragraphs: `offset:start-end`, separated by spaces. */
  time_breaks?: string;
  /** Where the text is in the text of its file: `offset:offset in the file`, separated by spaces; text files only. */
  places?: string;
  chunk_index: number;
}

/** The page on which a quote begins. The passage's first page if the quote is not found; undefined without pages. */
export function pageOfQuote({ text, metadata }: RetrievedDocument, quote: string): number | undefined {
  const { page, page_breaks: breaks } = metadata;
  if (typeof page !== 'number') return undefined;
  const start = Math.max(quote ? text.indexOf(quote) : 0, 0);
  const pairs =
    typeof breaks === 'string' ? breaks.split(' ').map((pair) => pair.split(':').map(Number)) : [];
  return pairs.findLast(([offset = 0]) => offset <= start)?.[1] ?? page;
}

/** What a page is called, where that is not its number: `iv`, `A-3`. */
export function labelOfPage(
  { metadata }: Pick<RetrievedDocument, 'metadata'>,
  page: number,
): string | undefined {
  const { page_labels: labels } = metadata;
  const label = typeof labels === 'object' && labels !== null ? Object.entries(labels) : [];
  const found: unknown = label.find(([number]) => number === String(page))?.[1];
  return typeof found === 'string' ? found : undefined;
}

/** Fields of a citation of a paged document. */
export interface PageFields {
  /** From 1. */
  page: number;
  /** What the page is called, where that is not its number. */
  page_label?: string;
}

/** The page on which a quote begins, for an answer; an empty object without pages. */
export function pageFields(document: RetrievedDocument, quote: string): Partial<PageFields> {
  const page = pageOfQuote(document, quote);
  if (page === undefined) return {};
  const label = labelOfPage(document, page);
  return { page, ...(label !== undefined && { page_label: label }) };
}

/** A part of a recording, in seconds from its beginning. */
export interface TimeSpan {
  start: number;
  end: number;
}

/** From the beginning of the first to the end of the last part of a recording; undefined for an empty list. */
export function wholeSpan(parts: readonly TimeSpan[]): TimeSpan | undefined {
  if (parts.length === 0) return undefined;
  return {
    start: Math.min(...parts.map(({ start }) => start)),
    end: Math.max(...parts.map(({ end }) => end)),
  };
}

/** When a quote of a recording is said: the paragraphs that have it, or all if it is not found. Undefined without times. */
export function timeOfQuote(
  { text, metadata }: Pick<RetrievedDocument, 'text' | 'metadata'>,
  quote: string,
): TimeSpan | undefined {
  const { start_seconds: start, end_seconds: end, time_breaks: breaks } = metadata;
  if (typeof start !== 'number' || typeof end !== 'number') return undefined;
  const from = quote ? text.indexOf(quote) : -1;
  if (from === -1 || typeof breaks !== 'string') return { start, end };
  const paragraphs = breaks.split(' ').map((each) => each.split(/[:-]/).map(Number));
  const first = paragraphs.findLast(([offset = 0]) => offset <= from)?.[1] ?? start;
  const last = paragraphs.findLast(([offset = 0]) => offset < from + quote.length)?.[2] ?? end;
  return { start: first, end: last };
}

/** A part of a recording for a reader: `1:23–1:41`, or `1:02:03–1:02:10`. */
export function timeText({ start, end }: TimeSpan): string {
  return `${clockText(start)}–${clockText(end)}`;
}

/** Fields of a passage and of a citation: when a text of a recording is said. */
export interface TimeFields {
  /** For a reader, such as `1:23–1:41`. */
  time: string;
  start_seconds: number;
  end_seconds: number;
}

/** The fields for a part of a recording. */
export function timeFields(span: TimeSpan): TimeFields {
  return { time: timeText(span), start_seconds: span.start, end_seconds: span.end };
}

function clockText(time: number): string {
  const whole = Math.floor(time);
  const [hours, minutes, seconds] = [Math.floor(whole / 3_600), Math.floor(whole / 60) % 60, whole % 60];
  const tail = String(seconds).padStart(2, '0');
  return hours === 0 ? `${minutes}:${tail}` : `${hours}:${String(minutes).padStart(2, '0')}:${tail}`;
}

/**
 * Offsets of a quote in the text of its file, from its offsets in the text of its passage. Null where they are not known:
 * in a file that is not text, or where the file has marks that the passage does not have.
 */
export function placeInFile(
  { metadata }: Pick<RetrievedDocument, 'metadata'>,
  { start, end }: { start: number; end: number },
): { start: number; end: number } | null {
  const { places } = metadata;
  if (typeof places !== 'string' || start >= end) return null;
  const pairs = places.split(' ').map((pair) => pair.split(':'));
  const offsetOf = (offset: number) => {
    const [passage, file] = pairs.findLast(([begin]) => Number(begin) <= offset) ?? [];
    return file ? Number(file) + offset - Number(passage) : undefined;
  };
  const isCut = pairs.some(([begin, file]) => !file && Number(begin) > start && Number(begin) < end);
  const [first, last] = [offsetOf(start), offsetOf(end - 1)];
  return isCut || first === undefined || last === undefined ? null : { start: first, end: last + 1 };
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

/** The web address of a passage: of a linked document, or in the page of the gateway. Undefined without either. */
export function addressOf({ metadata }: RetrievedDocument): string | undefined {
  const { source, page_url: page } = metadata;
  const isLink = isText(source) && /^https?:/i.test(source);
  return isLink ? source : [page, source].find(isText);
}

/** Control characters, lone surrogates and line separators: a database drops or replaces some of them. */
const unwritable = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u;

/**
 * A name that callers choose, at most `longest` characters. Every check and the database see the same name: the schema
 * refuses a name that a later step would change.
 */
export function nameSchema(longest: number) {
  return z
    .string()
    .min(1)
    .max(longest)
    .refine((name) => !unwritable.test(name), 'has a control character');
}

/** Characters that readers do not see, or that change the direction of what follows; not the joiners of scripts and emoji. */
const invisible = /[\u00AD\u200B\u200E\u200F\u202A-\u202E\u2060-\u2069\uFEFF\u{E0000}-\u{E007F}]/gu;
/** Letters of other scripts that look like those of `vs_`. */
const lookAlikes: Readonly<Record<string, string>> = { ν: 'v', ѵ: 'v', ѕ: 's' };

/** A name without the characters that a reader does not see. */
export function withoutInvisible(name: string): string {
  return name.replaceAll(invisible, '');
}

/** True for a name that a reader takes for that of a vector store. */
function looksLikeVectorStore(name: string): boolean {
  const plain = withoutInvisible(name).normalize('NFKC').trim().toLowerCase();
  return isVectorStore(plain.replaceAll(/[νѵѕ]/g, (letter) => lookAlikes[letter] ?? letter));
}

/** The name of a collection. Two names that look the same to a reader of a list are not accepted. */
export const collectionNameSchema = nameSchema(128)
  .refine((name) => withoutInvisible(name) === name, 'has an invisible character')
  .refine(
    (name) => isVectorStore(name) || !looksLikeVectorStore(name),
    'looks like the name of a vector store',
  );
