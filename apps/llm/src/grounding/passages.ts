import { isAttached, type Neighbour, type RetrievedDocument } from '#platform/contracts';
import { evidenceBlocks, type EvidenceBlock } from '#answers/evidence';
import type { Profile } from '#platform/service-kit';
import {
  countWords,
  estimateTokens,
  firstWords,
  normalizeWhitespace,
  sentencesOf,
} from '#platform/foundation';

/** A passage of the prompt: `[number] shown`. */
export interface Passage {
  /** From 1. */
  readonly number: number;
  /** The stored passage; the best of several that the text consists of. */
  readonly documentId: string;
  /** What the documents say, which an answer may quote. */
  readonly text: string;
  /** The text as the prompt shows it: with its label. */
  readonly shown: string;
  /** The stored passages of the text, in their order; absent: `documentId` alone. */
  readonly parts?: readonly Neighbour[];
}

/** What a part of a document says about a question. */
export interface Note {
  readonly text: string;
  /** The document, and which part of it. */
  readonly label: string;
  /** The passages of the part. */
  readonly passages: readonly RetrievedDocument[];
}

/** What a search found for a question. */
export interface Found {
  readonly documents: readonly RetrievedDocument[];
  readonly neighbours?: readonly Neighbour[] | undefined;
  readonly question: string;
}

type Settings = Pick<Profile['llm']['grounding'], 'context' | 'maxPassages' | 'maxContextWords'>;

/** The passages for a prompt, as the profile writes them, within a limit for their estimated tokens. */
export function passagesWithin(maxTokens: number, found: Found, settings: Settings): Passage[] {
  const { context, maxPassages, maxContextWords = Infinity } = settings;
  if (context === 'lines')
    return selectPassages(found.documents, {
      maxPassages,
      maxContextWords: Math.min(maxContextWords, maxTokens),
    });
  const limit = Math.min(maxTokens, maxContextWords * tokensPerWord);
  const { documents, neighbours, question } = found;
  const blocks = evidenceBlocks({ found: documents, neighbours, question, maxTokens: limit, maxPassages });
  // Several blocks are within the limit. A single one may be longer.
  const fitting =
    blocks.length > 1 ? blocks : blocks.map((block) => ({ ...block, text: cutTo(limit, block.text) }));
  return fitting.map((block, index) => blockPassage(index + 1, block, documents));
}

/** Notes of whole documents as passages, cut to the same share of the limit each; a citation quotes their parts. */
export function notePassages(notes: readonly Note[], maxTokens: number): Passage[] {
  const share = maxTokens / Math.max(1, notes.length);
  return notes.map(({ text: whole, label, passages }, index) => {
    const text = cutTo(share, whole);
    const [first] = passages;
    return { number: index + 1, documentId: first!.id, text, shown: `${label}\n${text}`, parts: passages };
  });
}

/** An upper estimate. */
const tokensPerWord = 4 / 3;

/** The words of a text that fit into a limit for its estimated tokens; at least one. */
function cutTo(maxTokens: number, text: string): string {
  const tokens = estimateTokens(text);
  if (tokens <= maxTokens) return text;
  return firstWords(text, Math.max(1, Math.floor((countWords(text) * maxTokens) / tokens)));
}

function blockPassage(
  number: number,
  { chunks, label, text }: EvidenceBlock,
  found: readonly RetrievedDocument[],
): Passage {
  const best = found.find(({ id }) => chunks.some((chunk) => chunk.id === id)) ?? chunks[0]!;
  const shown = label === '' ? text : `${label}\n${text}`;
  return { number, documentId: best.id, text, shown, parts: chunks };
}

export interface PassageLimits {
  readonly maxPassages: number;
  /** Limit for the words of all passages together. */
  readonly maxContextWords: number;
}

/**
 * The passages within the limit as lines of whole sentences, in the order of the documents. The last one is cut at the
 * end of a sentence. If there is any text, there is at least one passage: a first sentence beyond the limit is cut at a
 * word.
 */
export function selectPassages(documents: readonly RetrievedDocument[], limits: PassageLimits): Passage[] {
  const passages: Passage[] = [];
  let room = limits.maxContextWords;
  for (const document of documents) {
    if (passages.length === limits.maxPassages || room <= 0) break;
    const sentences = sentencesOf(document.text);
    if (sentences.length === 0) continue;
    const fitting = fittingSentences(sentences, room);
    const number = passages.length + 1;
    if (fitting.length > 0) passages.push(line(number, document, fitting));
    else if (passages.length === 0) passages.push(line(number, document, [firstWords(sentences[0]!, room)]));
    if (fitting.length < sentences.length) break;
    room -= countWords(fitting.join(' '));
  }
  return passages;
}

function line(number: number, document: RetrievedDocument, sentences: readonly string[]): Passage {
  const text = sentences.join(' ');
  return { number, documentId: document.id, text, shown: `${fileLabel(document)}${text}` };
}

/** The file, before the text of a passage that the user attached. */
function fileLabel(passage: RetrievedDocument): string {
  const { filename } = passage.metadata;
  if (!isAttached(passage) || typeof filename !== 'string') return '';
  return `(attached file ${normalizeWhitespace(filename)}) `;
}

function fittingSentences(sentences: readonly string[], room: number): string[] {
  let words = 0;
  const tooFar = sentences.findIndex((sentence) => (words += countWords(sentence)) > room);
  return tooFar === -1 ? [...sentences] : sentences.slice(0, tooFar);
}

/** The share of the window for passages, and what they may have at least where the window allows. */
const windowShare = 1 / 8;
const least = { tokens: 3_000, maxShare: 0.6 };

/** Limit for the tokens of the passages in the prompt of a model with a window of so many tokens. */
export function evidenceTokens(window: number): number {
  return Math.floor(Math.max(window * windowShare, Math.min(least.tokens, window * least.maxShare)));
}

/** Tries to find passages that fit. */
const maxTries = 12;

/**
 * The passages that fit into a prompt: fewer tokens until `excess`, the tokens of the prompt beyond its limit, is not
 * above 0. A word of a document stays in any case; then the model refuses the prompt.
 */
export async function fitPassages(
  maxTokens: number,
  passagesWithin: (tokens: number) => Passage[],
  excess: (passages: readonly Passage[]) => Promise<number>,
): Promise<Passage[]> {
  let tokens = maxTokens;
  for (let tries = 0; ; tries += 1) {
    const passages = passagesWithin(Math.max(1, tokens));
    const beyond = await excess(passages);
    if (beyond <= 0 || tokens <= 1 || tries === maxTries) return passages;
    const used = passages.reduce((sum, { shown }) => sum + estimateTokens(shown), 0);
    tokens = Math.floor(Math.min(tokens - beyond, used - beyond, tokens * 0.9));
  }
}
