import type { GenerationChunk, TokenUsage } from '#contracts';

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
