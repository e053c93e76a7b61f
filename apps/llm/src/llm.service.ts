import {
  assertServedModel,
  type countPromptTokens,
  type GenerationChunk,
  type ModelInfo,
  type ParsedRequestOf,
  type ReplyOf,
} from '#contracts';
import { HealthRegistry, Metrics } from '#service-kit';
import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { byWord } from './by-word.js';
import type { GenerateRequest } from './generate-request.js';
import { generatorToken } from './generator.token.js';
import { llmSettings, type LlmSettings } from './llm.settings.js';
import { measureGeneration } from './measure-generation.js';
import type { LlmGenerator } from './open-generator.js';
import { planAnswer } from './plan-answer.js';
import { TokenTally } from './token-tally.js';

/** Writes answers; both the HTTP and the NATS side go through it. */
@Injectable()
export class LlmService implements OnApplicationShutdown {
  constructor(
    @Inject(generatorToken) private readonly generator: LlmGenerator,
    @Inject(llmSettings) private readonly settings: LlmSettings,
    @Inject(Metrics) private readonly metrics: Metrics,
    @Inject(HealthRegistry) health: HealthRegistry,
  ) {
    health.register('model', async (signal) => {
      // A local model is asked through its own thread; generating would have to wait behind the answers under way.
      await (this.generator.check?.(signal) ?? this.generator.countPromptTokens('health'));
      return this.generator.info.id;
    });
  }

  get model(): ModelInfo {
    return this.generator.info;
  }

  /**
   * Streams the answers; the last chunk carries the usage. Leaving the loop or aborting the signal ends the generation
   * within one token. Errors: model_not_found, context_length_exceeded, invalid_request, overloaded, cancelled.
   */
  generate(request: GenerateRequest, signal: AbortSignal): AsyncGenerator<GenerationChunk, void, void> {
    return measureGeneration(this.metrics, this.#answer(request, signal));
  }

  /** Tokens of the prompt that a conversation becomes. Errors: model_not_found. */
  async countTokens({
    messages,
    model,
  }: ParsedRequestOf<typeof countPromptTokens>): Promise<ReplyOf<typeof countPromptTokens>> {
    const { id, maxInputTokens } = this.generator.info;
    assertServedModel(model, id);
    const { prompt } = await planAnswer({ messages }, this.settings, this.generator);
    return { promptTokens: await this.generator.countPromptTokens(prompt), maxInputTokens };
  }

  async onApplicationShutdown(): Promise<void> {
    await this.generator.close();
  }

  async *#answer(request: GenerateRequest, signal: AbortSignal): AsyncGenerator<GenerationChunk, void, void> {
    assertServedModel(request.model, this.generator.info.id);
    const { prompt, parameters, check } = await planAnswer(request, this.settings, this.generator);
    const tally = new TokenTally(this.metrics);
    const events = tally.count(this.generator.generate({ messages: prompt, parameters }, signal));
    const usageSoFar = () => tally.soFar(() => this.generator.countPromptTokens(prompt));
    for await (const chunk of byWord(check(events, usageSoFar))) {
      if (!chunk.usage) yield chunk;
      else {
        tally.settle(chunk.usage);
        yield { ...chunk, model: this.generator.info.id };
      }
    }
  }
}
