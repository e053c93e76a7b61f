import type { GenerationChunk, TokenUsage } from '#platform/contracts';

/** One step of writing a text about a text. */
export type WritingStep =
  /** A summary of the whole text or of one piece. */
  | { kind: 'summary' | 'part'; text: string }
  /** One summary of the summaries of the pieces, in their order. */
  | { kind: 'combination'; text: string }
  /** The summary of the earlier pieces, extended to the next piece. */
  | { kind: 'refinement'; text: string; before: string }
  /** Questions that the text answers, with the answers. */
  | { kind: 'faq'; text: string; count: number };

/** Carries out steps, with a language model or by choosing sentences. */
export interface TextWriter {
  /** Whether one step can read a text of this length and still has room for its own text. */
  fits(text: string): Promise<boolean>;
  /** Words of a piece that one step can read in any case. */
  readonly pieceWords: number;
  /** Streams the text of a step; the last chunk has the finish reason and the usage. */
  write(step: WritingStep, signal: AbortSignal): AsyncIterable<GenerationChunk>;
}

/** Sums the tokens of the generations of one answer. */
export class UsageSum {
  private sum: TokenUsage = { promptTokens: 0, completionTokens: 0, cachedTokens: 0 };

  /** Adds tokens and returns the sum. */
  add({ promptTokens, completionTokens, cachedTokens, reasoningTokens = 0 }: TokenUsage): TokenUsage {
    const thought = (this.sum.reasoningTokens ?? 0) + reasoningTokens;
    this.sum = {
      promptTokens: this.sum.promptTokens + promptTokens,
      completionTokens: this.sum.completionTokens + completionTokens,
      cachedTokens: this.sum.cachedTokens + cachedTokens,
      ...(thought > 0 && { reasoningTokens: thought }),
    };
    return this.sum;
  }

  /** Passes a generation on, with the usage of all generations so far including this one. */
  async *addTo(chunks: AsyncIterable<GenerationChunk>): AsyncGenerator<GenerationChunk, void, void> {
    for await (const chunk of chunks) yield chunk.usage ? { ...chunk, usage: this.add(chunk.usage) } : chunk;
  }
}
