import { setImmediate as nextTurn } from 'node:timers/promises';
import type { GenerationChunk } from '#contracts';
import { countWords } from '#text';
import { sentencesOf } from '../grounding/sentences.js';
import type { TextWriter, WritingStep } from './text-writer.js';

/** Embeds texts as unit vectors; returns also the number of read tokens. */
export type EmbedTexts = (
  texts: string[],
  signal: AbortSignal,
) => Promise<{ vectors: Float32Array[]; promptTokens: number }>;

/** Number of sentences of a summary or of a piece's summary, where the caller set no limit. */
const usualSentences = 5;
/** Limit for the sentences that one step compares with each other; the work grows with their square. */
const mostSentences = 400;
/** Approximate number of words per token. */
const wordsPerToken = 0.75;

/** Composes texts of the text's own sentences, for models that quote but do not write. */
export class ExtractiveWriter implements TextWriter {
  readonly pieceWords = 4_000;

  constructor(
    private readonly embed: EmbedTexts,
    /** Limit for the tokens of the text; absent: by the number of sentences. */
    private readonly maxTokens?: number,
  ) {}

  fits(text: string): Promise<boolean> {
    return Promise.resolve(sentencesOf(text).length <= mostSentences);
  }

  async *write(step: WritingStep, signal: AbortSignal): AsyncGenerator<GenerationChunk, void, void> {
    const text = step.kind === 'refinement' ? `${step.before}\n\n${step.text}` : step.text;
    const candidates = sentencesOf(text).filter(step.kind === 'faq' ? questionOf : isTelling);
    const sentences = candidates.length > 0 ? candidates : step.kind === 'faq' ? [] : sentencesOf(text);
    const { vectors, promptTokens } = await this.#embed(sentences, signal);
    const order = await rankInGroups(vectors, signal);
    const ranked = order.map((index) => ({ index, sentence: sentences[index] ?? '' }));
    const chosen = step.kind === 'faq' ? ranked.slice(0, step.count) : this.#withinLength(ranked);
    chosen.sort((a, b) => a.index - b.index);
    const faq = step.kind === 'faq';
    for (const [position, { sentence }] of chosen.entries()) {
      const before = position === 0 ? '' : faq ? '\n\n' : ' ';
      yield { choice: 0, text: before + (faq ? pairOf(sentence) : sentence) };
    }
    const usage = { promptTokens, completionTokens: 0, cachedTokens: 0 };
    yield { choice: 0, text: '', finishReason: 'stop', usage };
  }

  async #embed(sentences: string[], signal: AbortSignal) {
    if (sentences.length === 0) return { vectors: [], promptTokens: 0 };
    return this.embed(sentences, signal);
  }

  /** The best sentences within the limit, but at least one. */
  #withinLength<Ranked extends { sentence: string }>(ranked: readonly Ranked[]): Ranked[] {
    const words = this.maxTokens === undefined ? Infinity : this.maxTokens * wordsPerToken;
    const chosen: Ranked[] = [];
    let used = 0;
    for (const candidate of ranked) {
      const length = countWords(candidate.sentence);
      if (chosen.length === usualSentences) break;
      if (chosen.length > 0 && used + length > words) continue;
      chosen.push(candidate);
      used += length;
    }
    return chosen;
  }
}

/** Leaves out headings, rows of tables and fragments, which say little alone, and long sentences, which are lists. */
export function isTelling(sentence: string): boolean {
  const words = countWords(sentence);
  return words >= 5 && words <= 60 && !leansOnContext(sentence) && /[.!?]["”’)\]]*$/.test(sentence);
}

function pairOf(sentence: string): string {
  return `Q: ${questionOf(sentence)}\nA: ${sentence}`;
}

/** Weight of a sentence's similarity to the chosen sentences, relative to its similarity to all sentences. */
const redundancyCost = 0.7;
/** Bonus for the first sentence of a text, which often names the subject. */
const leadBonus = 0.05;

/**
 * Positions of sentences in the order of their value for a summary: first the sentences that are most similar to all
 * others, with as little repetition as possible (centrality as in LexRank, Erkan and Radev 2004; redundancy as in
 * maximal marginal relevance, Carbonell and Goldstein 1998). `vectors`: one unit vector for each sentence.
 */
export function rankByCentrality(vectors: readonly Float32Array[]): number[] {
  const sum = sumOf(vectors);
  const others = Math.max(1, vectors.length - 1);
  // The mean similarity to the others is the similarity to their sum, divided by their number.
  const centrality = vectors.map(
    (vector, index) => (dot(vector, sum) - 1) / others + leadBonus * (1 - index / vectors.length),
  );
  const left = new Set(vectors.keys());
  const nearest = vectors.map(() => 0);
  const ranked: number[] = [];
  while (left.size > 0) {
    const value = (index: number) => (centrality[index] ?? 0) - redundancyCost * (nearest[index] ?? 0);
    const best = [...left].reduce((a, b) => (value(b) > value(a) ? b : a));
    left.delete(best);
    ranked.push(best);
    for (const index of left) {
      nearest[index] = Math.max(nearest[index] ?? 0, dot(vectors[index], vectors[best]));
    }
  }
  return ranked;
}

/**
 * The order of {@link rankByCentrality}, whose work grows with the square of the number of sentences: more than
 * `mostSentences` are ranked in groups first, and the first half of each group goes on. The event loop turns between
 * two groups. Errors: the reason of the signal.
 */
export async function rankInGroups(
  vectors: readonly Float32Array[],
  signal: AbortSignal,
  maxGroup = mostSentences,
): Promise<number[]> {
  let left = [...vectors.keys()];
  while (left.length > maxGroup) {
    const winners: number[] = [];
    for (let first = 0; first < left.length; first += maxGroup) {
      await nextTurn();
      signal.throwIfAborted();
      const group = left.slice(first, first + maxGroup);
      winners.push(...rankOf(group, vectors).slice(0, Math.ceil(group.length / 2)));
    }
    left = winners.toSorted((a, b) => a - b);
  }
  return rankOf(left, vectors);
}

function rankOf(positions: readonly number[], vectors: readonly Float32Array[]): number[] {
  const group = positions.map((position) => vectors[position] ?? new Float32Array());
  return rankByCentrality(group).flatMap((index) => positions[index] ?? []);
}

function sumOf(vectors: readonly Float32Array[]): Float32Array {
  const sum = new Float32Array(vectors[0]?.length ?? 0);
  for (const vector of vectors) vector.forEach((value, index) => (sum[index] = (sum[index] ?? 0) + value));
  return sum;
}

function dot(a: Float32Array | undefined, b: Float32Array | undefined): number {
  let sum = 0;
  for (let index = 0; index < (a?.length ?? 0); index++) sum += (a?.[index] ?? 0) * (b?.[index] ?? 0);
  return sum;
}

/** First words of sentences that need the sentence before them to be understood. */
const leaning =
  /^(it|its|this|that|these|those|they|them|their|he|him|his|she|her|such|there|here|then|thus|so|but|and|or|nor|however|therefore|moreover|furthermore|also|instead|otherwise|meanwhile|for example|for instance|in addition|as a result|both|neither|another|others?)\b/i;

interface Form {
  pattern: RegExp;
  /** The first group is a subject, which must be clear without context. */
  aboutThing?: boolean;
  ask: (...groups: string[]) => string;
}

const subject = String.raw`((?:[^\s,;:()]+ ){0,6}?[^\s,;:()]+)`;

/** Words that make a subject unclear without context. */
const unclear = /\b(that|which|who|whose|what|two|before|after|one|more|less|not|each|same|former|latter)\b/i;

/** The first matching pattern forms the question. */
const forms: readonly Form[] = [
  { pattern: /^(?:In order )?[Tt]o ([a-z][^,:;]{3,70}), /, ask: (action) => `How do I ${action}?` },
  { pattern: /^(?:If|When|Once) ([^,;]{5,90}), /, ask: (case_) => `What happens when ${lower(case_)}?` },
  {
    pattern: new RegExp(`^${subject} (is|are|was|were) (?:an?|the|one of|called|known as) `),
    aboutThing: true,
    ask: (who, verb) => `What ${verb} ${lower(who)}?`,
  },
  {
    pattern: new RegExp(`^${subject} (can|must|should|may|will|cannot) ([a-z]+)`),
    aboutThing: true,
    ask: (who, verb) =>
      `What ${verb === 'cannot' ? 'can' : verb} ${lower(who)} ${verb === 'cannot' ? 'not ' : ''}do?`,
  },
];

/** Whether an English sentence begins with a word that refers to earlier text. */
function leansOnContext(sentence: string): boolean {
  return leaning.test(sentence);
}

/**
 * A question that an English sentence answers, formed by a pattern; undefined where no pattern matches or the sentence
 * needs its context.
 */
export function questionOf(sentence: string): string | undefined {
  if (leansOnContext(sentence) || !/[.!]["”’)]?$/.test(sentence)) return undefined;
  for (const { pattern, ask, aboutThing } of forms) {
    const match = pattern.exec(sentence);
    if (match && !(aboutThing && unclear.test(match[1] ?? ''))) return ask(...match.slice(1));
  }
  return undefined;
}

/** Lowers the first letter of articles and other function words inside a question, but not of names. */
function lower(words: string): string {
  return words.replace(
    /^(The|A|An|All|Each|Every|Some|Many|Most|No|One|Two|Three|Your|Our|My|You|We|Both|Any|In|On|At|For)\b/,
    (word) => word.toLowerCase(),
  );
}
