import type { GenerationChunk } from '#contracts';
import { countWords } from '#text';
import { sentencesOf } from '../grounding/sentences.js';
import { rankByCentrality } from './central-sentences.js';
import { leansOnContext, questionOf } from './question-of.js';
import type { TextWriter, WritingStep } from './text-writer.js';

/** Texts to unit vectors, and the tokens that were read for it. */
export type EmbedTexts = (
  texts: string[],
  signal: AbortSignal,
) => Promise<{ vectors: Float32Array[]; promptTokens: number }>;

/** Sentences of a summary, and of one piece's, where the caller set no limit. */
const usualSentences = 5;
/** Sentences that are compared with each other in one step; the work grows with their square. */
const mostSentences = 400;
/** Words that so many tokens are about. */
const wordsPerToken = 0.75;

/** Makes texts of the text's own sentences: for models that quote but do not write. */
export class ExtractiveWriter implements TextWriter {
  readonly pieceWords = 4_000;

  constructor(
    private readonly embed: EmbedTexts,
    /** Most tokens of the text; by the number of sentences where absent. */
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
    const ranked = rankByCentrality(vectors).map((index) => ({ index, sentence: sentences[index] ?? '' }));
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

  /** The best one in any case. */
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

/** Headings, rows of tables and fragments say little by themselves, and very long ones are lists. */
function isTelling(sentence: string): boolean {
  const words = countWords(sentence);
  return words >= 5 && words <= 60 && !leansOnContext(sentence) && /[.!?]["”’)\]]*$/.test(sentence);
}

function pairOf(sentence: string): string {
  return `Q: ${questionOf(sentence)}\nA: ${sentence}`;
}
