import { stemSet } from '#engine/encoders';
import type { CitablePassage } from './citable-passage.js';
import { sentenceSpans, type Span } from './sentence-spans.js';

/** A sentence of a passage, in its words. */
export interface Quote {
  readonly documentId: string;
  readonly quote: string;
  /** Offsets of the quote in the text of its chunk. */
  readonly quoteStart: number;
  readonly quoteEnd: number;
}

/** A sentence of a chunk with its stems. */
interface Candidate extends Span {
  readonly part: CitablePassage['parts'][number];
  readonly stems: ReadonlySet<string>;
}

/** A heading has fewer stems, mostly. */
const minStems = 3;

/** The words of a passage, for comparisons with the statements of an answer. */
export class PassageWords {
  #sentences: Candidate[] | undefined;
  readonly #quotes = new Map<string, Quote | undefined>();
  #stems: ReadonlySet<string> | undefined;

  constructor(readonly passage: CitablePassage) {}

  /**
   * The share of a statement's words that the passage contains, 0 to 1. 0 if a number of the statement is not in the
   * passage.
   */
  share(statement: ReadonlySet<string>): number {
    if (statement.size === 0) return 0;
    const stems = this.#all;
    const missing = [...statement].filter((stem) => !stems.has(stem));
    return missing.some((stem) => /^\d/.test(stem)) ? 0 : 1 - missing.length / statement.size;
  }

  /** The number of a statement's words that the passage contains. */
  common(statement: ReadonlySet<string>): number {
    return [...statement].filter((stem) => this.#all.has(stem)).length;
  }

  /** The sentence of the passage that has most of a statement's words; rare words of the passage count more. */
  nearest(statement: string): Quote | undefined {
    if (!this.#quotes.has(statement)) this.#quotes.set(statement, this.#nearest(statement));
    return this.#quotes.get(statement);
  }

  #nearest(statement: string): Quote | undefined {
    this.#sentences ??= sentencesOf(this.passage);
    const sentences = this.#sentences;
    const wanted = stemSet(statement);
    const weights = new Map(
      [...wanted].map((stem) => [stem, 1 / (1 + sentences.filter(({ stems }) => stems.has(stem)).length)]),
    );
    const worthOf = ({ stems }: Candidate) => {
      const common = [...wanted].reduce((sum, stem) => sum + (stems.has(stem) ? weights.get(stem)! : 0), 0);
      // Of two sentences with the same words the shorter one is nearer.
      return common - stems.size / 10_000;
    };
    const [first, ...rest] = sentences;
    if (!first) return undefined;
    const nearest = rest.reduce((kept, one) => (worthOf(one) > worthOf(kept) ? one : kept), first);
    const isRelated = worthOf(nearest) > 0;
    const best = isRelated ? nearest : (sentences.find(({ stems }) => stems.size >= minStems) ?? first);
    const { part, start, end } = best;
    return {
      documentId: part.documentId,
      quote: part.text.slice(start, end),
      quoteStart: start,
      quoteEnd: end,
    };
  }

  get #all(): ReadonlySet<string> {
    this.#stems ??= stemSet(this.passage.parts.map(({ text }) => text).join('\n'));
    return this.#stems;
  }
}

function sentencesOf({ parts }: CitablePassage): Candidate[] {
  return parts.flatMap((part) =>
    sentenceSpans(part.text).map((span) => ({
      ...span,
      part,
      stems: stemSet(part.text.slice(span.start, span.end)),
    })),
  );
}
