import { countWords, gatherInTurns, sentencesIn } from '#platform/foundation';
import type { GenerationChunk } from '#platform/contracts';
import { chooseCentral } from './centrality.js';
import type { TextWriter, WritingStep } from './text-writer.js';

/** Embeds texts as unit vectors; returns also the number of read tokens. */
export type EmbedTexts = (
  texts: string[],
  signal: AbortSignal,
) => Promise<{ vectors: Float32Array[]; promptTokens: number }>;

/** Number of sentences of a summary or of a piece's summary, where the caller set no limit. */
const usualSentences = 5;
/** Limit for the sentences that one step compares with each other. */
const maxSentences = 400;
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
    const sentences = sentencesIn(text);
    for (let count = 0; count <= maxSentences; count += 1)
      if (sentences.next().done) return Promise.resolve(true);
    return Promise.resolve(false);
  }

  async *write(step: WritingStep, signal: AbortSignal): AsyncGenerator<GenerationChunk, void, void> {
    const text = step.kind === 'refinement' ? `${step.before}\n\n${step.text}` : step.text;
    const sentences = await this.#candidates(step.kind, text, signal);
    const { vectors, promptTokens } = await this.#embed(sentences, signal);
    const order = await chooseCentral(vectors, this.#choice(step, sentences), signal);
    const chosen = order.toSorted((a, b) => a - b).map((index) => sentences[index] ?? '');
    const faq = step.kind === 'faq';
    for (const [position, sentence] of chosen.entries()) {
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

  /** The sentences that may be chosen: for a summary all of them, if none of them says much alone. */
  async #candidates(kind: WritingStep['kind'], text: string, signal: AbortSignal): Promise<string[]> {
    const all = await gatherInTurns(sentencesIn(text), signal);
    const isWanted = (sentence: string) =>
      kind === 'faq' ? questionOf(sentence) !== undefined : isTelling(sentence);
    const marked = await gatherInTurns(mapped(all, isWanted), signal);
    const wanted = all.filter((_sentence, index) => marked[index]);
    return wanted.length > 0 || kind === 'faq' ? wanted : all;
  }

  /** As many sentences as are asked for, or as fit into the limit for the words; at least one. */
  #choice(step: WritingStep, sentences: readonly string[]): Parameters<typeof chooseCentral>[1] {
    if (step.kind === 'faq') return { count: step.count };
    if (this.maxTokens === undefined) return { count: usualSentences };
    const max = this.maxTokens * wordsPerToken;
    const lengths = sentences.map(countWords);
    const wordsOf = (chosen: readonly number[]) => chosen.reduce((sum, index) => sum + lengths[index]!, 0);
    return {
      count: usualSentences,
      mayFollow: (index, chosen) => chosen.length === 0 || wordsOf(chosen) + lengths[index]! <= max,
    };
  }
}

function* mapped<From, To>(items: Iterable<From>, map: (item: From) => To): Generator<To> {
  for (const item of items) yield map(item);
}

/** Leaves out headings, rows of tables and fragments, which say little alone, and long sentences, which are lists. */
export function isTelling(sentence: string): boolean {
  const words = countWords(sentence);
  return words >= 5 && words <= 60 && !leansOnContext(sentence) && /[.!?]["”’)\]]*$/.test(sentence);
}

function pairOf(sentence: string): string {
  return `Q: ${questionOf(sentence)}\nA: ${sentence}`;
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
