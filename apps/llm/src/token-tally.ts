import type { TokenUsage } from '#contracts';
import type { Metrics } from '#service-kit';
import type { GenerationEvent } from '#generation';

/** Counts the tokens of one generation while they are written, so that the metrics never lag behind the work. */
export class TokenTally {
  #completionTokens = 0;
  #prompt: GenerationEvent['prompt'];

  constructor(private readonly metrics: Pick<Metrics, 'countTokens'>) {}

  async *count(events: AsyncIterable<GenerationEvent>): AsyncGenerator<GenerationEvent, void, void> {
    for await (const event of events) {
      // A remote engine does not tell its tokens; its pieces of text mostly are one each.
      const tokens = event.tokenIds.length || (event.text === '' ? 0 : 1);
      this.#completionTokens += tokens;
      this.metrics.countTokens('completion', tokens);
      this.#prompt ??= event.prompt;
      yield event;
    }
  }

  /** The usage of a generation that is stopped now; `countPrompt` is asked where the engine did not tell. */
  async soFar(countPrompt: () => Promise<number>): Promise<TokenUsage> {
    const prompt = this.#prompt ?? { promptTokens: await countPrompt(), cachedTokens: 0 };
    return { ...prompt, completionTokens: this.#completionTokens };
  }

  /** Brings the metrics to the final usage, which also knows the tokens that end an answer. */
  settle({ promptTokens, completionTokens }: TokenUsage): void {
    this.metrics.countTokens('prompt', promptTokens);
    this.metrics.countTokens('completion', Math.max(0, completionTokens - this.#completionTokens));
  }
}
