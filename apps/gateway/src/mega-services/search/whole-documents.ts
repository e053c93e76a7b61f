import {
  MegaNestError,
  readNamedDocuments,
  type ModelInfo,
  type ReplyOf,
  type RequestOf,
  type RetrievedDocument,
} from '#platform/contracts';
import {
  documentQuestionOf,
  documentTexts,
  type DocumentQuestion,
  type DocumentTexts,
} from '#answers/questions';
import { detectLanguage } from '#platform/foundation';
import type { CallOptions, RpcClient } from '#platform/messaging';

/** The documents that a question asks about as a whole. */
export interface WholeDocuments {
  readonly kind: DocumentQuestion['kind'];
  /** Their passages in order; empty with a notice. */
  readonly passages: RetrievedDocument[];
  /** The answer, if a name means several documents, or none. */
  readonly notice?: string;
  /** Names of documents of which only the beginning is read. */
  readonly cut: readonly string[];
}

interface Reading {
  readonly client: Pick<RpcClient, 'request'>;
  readonly options: CallOptions;
  /** Parameters of the node that searches: the collection and the filter. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** What the language model reads; undefined: it quotes sentences. */
  readonly reads: ModelInfo['evidence'];
}

/**
 * Words of a document that are read: by a model that writes as many parts as it summarizes in a reasonable time, and of a
 * model that quotes the sentences that are compared with each other.
 */
const limits = { partsOfWindow: 16, windowPerEvidence: 8, wordsPerToken: 0.5, max: 100_000, quoted: 20_000 };

/** A service that answers later, or does not know the call, leaves the search. */
const timeoutMs = 10_000;

type Names = ReplyOf<typeof readNamedDocuments>['names'];

/**
 * Reads the documents that a question names ("Summarize handbook.md", "What changed between A and B?"). Undefined for
 * other questions, and if the words that could be a name are not a name of a document: the question is searched then.
 * Errors: service_unavailable.
 */
export async function wholeDocumentsOf(
  question: string,
  { client, options, parameters, reads }: Reading,
): Promise<WholeDocuments | undefined> {
  const asked = documentQuestionOf(question);
  if (!asked) return undefined;
  const { collection, filter } = parameters as Pick<
    RequestOf<typeof readNamedDocuments>,
    'collection' | 'filter'
  >;
  const request = {
    ...(collection !== undefined && { collection }),
    ...(filter !== undefined && { filter }),
    names: asked.names.map(({ text }) => text),
    max_words: maxWordsOf(reads),
  };
  const deadline = Math.min(options.deadline ?? Infinity, Date.now() + timeoutMs);
  const reading = { ...options, model: undefined, patience: undefined, deadline };
  const { names, passages } = await client.request(readNamedDocuments, request, reading);
  const unclear = asked.names.flatMap((name, index) => {
    const match = names[index];
    return match && match.kind !== 'one' ? [{ ...match, name }] : [];
  });
  // "What changed from version 2 to version 3?": both names are in the title of one document, which is searched.
  const found = new Set(names.flatMap(({ documents }) => documents.map(({ id }) => id)));
  if (unclear.length === 0 && found.size < names.length) return undefined;
  if (unclear.length === 0 && passages.length > 0) {
    const cut = names.flatMap(({ isCut, documents }) => (isCut ? documents.map(nameOf) : []));
    return { kind: asked.kind, passages, cut };
  }
  // Other words may be a topic: "summarize the travel rules" is searched if no document has this name.
  const isNamed = unclear.some(({ kind, name }) => name.isExplicit || (kind === 'several' && !asked.isLoose));
  if (!isNamed || unclear.length === 0) return undefined;
  const texts = documentTexts(detectLanguage(question) ?? 'en');
  const notice = unclear.map((name) => sayUnclear(name, texts)).join(' ');
  return { kind: asked.kind, passages: [], notice, cut: [] };
}

function maxWordsOf(reads: ModelInfo['evidence']): number {
  if (!reads) return limits.quoted;
  const window = reads.tokens * limits.windowPerEvidence;
  return Math.min(limits.max, Math.max(1_000, window * limits.wordsPerToken * limits.partsOfWindow));
}

function sayUnclear(
  { kind, documents, name }: Names[number] & { name: DocumentQuestion['names'][number] },
  texts: DocumentTexts,
): string {
  const shown = documents.map(nameOf).join(', ');
  return kind === 'several' ? texts.several(name.text, shown) : texts.unknown(name.text, shown);
}

function nameOf({ filename, title }: Names[number]['documents'][number]): string {
  return title && title !== filename ? `${filename} (${title})` : filename;
}

/** As {@link wholeDocumentsOf}; a retrieval service that is away or too old leaves the search, which reports it. */
export async function tryWholeDocuments(
  question: string,
  reading: Reading,
): Promise<WholeDocuments | undefined> {
  try {
    return await wholeDocumentsOf(question, reading);
  } catch (error) {
    reading.options.signal?.throwIfAborted();
    if (error instanceof MegaNestError) return undefined;
    throw error;
  }
}
