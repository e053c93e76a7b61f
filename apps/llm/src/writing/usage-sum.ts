import type { GenerationChunk, TokenUsage } from '#contracts';

/** Tokens of several generations that make one answer. */
export class UsageSum {
  private sum: TokenUsage = { promptTokens: 0, completionTokens: 0, cachedTokens: 0 };

  add({ promptTokens, completionTokens, cachedTokens }: TokenUsage): void {
    this.sum = {
      promptTokens: this.sum.promptTokens + promptTokens,
      completionTokens: this.sum.completionTokens + completionTokens,
      cachedTokens: this.sum.cachedTokens + cachedTokens,
    };
  }

  /** Hands a generation on; its usage becomes that of everything so far, itself included. */
  async *addTo(chunks: AsyncIterable<GenerationChunk>): AsyncGenerator<GenerationChunk, void, void> {
    for await (const chunk of chunks) {
      if (chunk.usage) this.add(chunk.usage);
      yield chunk.usage ? { ...chunk, usage: this.sum } : chunk;
    }
  }
}
