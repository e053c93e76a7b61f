import type { GenerationChunk, TokenUsage } from '#contracts';

/** One step towards a text about a text. */
export type WritingStep =
  /** A summary of the whole, or of one piece of it. */
  | { kind: 'summary' | 'part'; text: string }
  /** One summary of the summaries of the pieces, in their order. */
  | { kind: 'combination'; text: string }
  /** The summary of all before, made to cover the next piece as well. */
  | { kind: 'refinement'; text: string; before: string }
  /** Questions that the text answers, and the answers. */
  | { kind: 'faq'; text: string; count: number };

/** How a step is done: by a model that can write, or by choosing sentences. */
export interface TextWriter {
  /** Whether one step can read a text of this length, with room left for what it writes. */
  fits(text: string): Promise<boolean>;
  /** Words of a piece that one step can surely read. */
  readonly pieceWords: number;
  /** Streams what it writes; the last chunk has the finish reason and the usage. */
  write(step: WritingStep, signal: AbortSignal): AsyncIterable<GenerationChunk>;
}

/** Tokens of several generations that make one answer. */
export class UsageSum {
  private sum: TokenUsage = { promptTokens: 0, completionTokens: 0, cachedTokens: 0 };

  /** Returns the sum, with these tokens in it. */
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

  /** Hands a generation on; its usage becomes that of everything so far, itself included. */
  async *addTo(chunks: AsyncIterable<GenerationChunk>): AsyncGenerator<GenerationChunk, void, void> {
    for await (const chunk of chunks) yield chunk.usage ? { ...chunk, usage: this.add(chunk.usage) } : chunk;
  }
}
