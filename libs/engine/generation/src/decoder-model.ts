import { MegaNestError, type GenerationParameters } from '#platform/contracts';
import { constraintProblem, GrammarCompiler } from '#engine/grammar';
import { TextTokenizer, TokenVocabulary } from '#engine/models';
import type { CallContext } from '#engine/models';
import { type EncodedImage, imagePrompt } from '#engine/vision';
import { GenerationScheduler } from './scheduling/generation-scheduler.js';
import type {
  EngineLoad,
  GenerateRequest,
  GenerationEvent,
  GeneratorCall,
  GeneratorReady,
  GeneratorResult,
  GeneratorSettings,
} from './generator-interface.js';
import { promptIds, promptTooLong, tokensBeyond } from './scheduling/prompt-ids.js';
import { loadBackend, type LoadedBackend } from './backends/load-backend.js';
import { PromptImages } from './images/prompt-images.js';

/**
 * Vocabulary size above which the index for constraints is built at start: it takes long enough to stall running
 * completions.
 */
const largeVocabulary = 32_768;

/** A decoder model in its worker thread: conversations in, generation events out. */
export class DecoderModel {
  private constructor(
    private readonly settings: GeneratorSettings,
    private readonly tokenizer: TextTokenizer,
    private readonly scheduler: GenerationScheduler,
    private readonly grammars: GrammarCompiler,
    private readonly loaded: LoadedBackend,
  ) {}

  get ready(): GeneratorReady {
    return this.loaded.ready;
  }

  /** Loads tokenizer and backend, and runs a first pass. Errors: ModelLoadError. */
  static async load(settings: GeneratorSettings): Promise<DecoderModel> {
    const { directory, config, maxAnswers } = settings;
    const [tokenizer, vocabulary] = await Promise.all([
      TextTokenizer.load(directory),
      TokenVocabulary.load(directory),
    ]);
    const loaded = await loadBackend(settings);
    const { backend } = loaded;
    const scheduler = new GenerationScheduler({ config, vocabulary, backend }, maxAnswers);
    const grammars = new GrammarCompiler(vocabulary, config.vocabularySize, config.endTokenIds);
    const model = new DecoderModel(settings, tokenizer, scheduler, grammars, loaded);
    await model.warmUp();
    if (config.vocabularySize >= largeVocabulary) grammars.prepare();
    return model;
  }

  /**
   * Handles a call. Returns the number of prompt tokens, or the engine's load; `generate` emits events first.
   * Errors: context_length_exceeded, invalid_request, cancelled.
   */
  async handle(call: GeneratorCall, context: CallContext<GenerationEvent>): Promise<GeneratorResult> {
    if (call.kind === 'load') return this.engineLoad;
    if (call.kind === 'count') {
      const { messages, chatTemplateKwargs, images } = call;
      return (
        this.tokensBeyond(messages, chatTemplateKwargs) ??
        promptIds(this.tokenizer, messages, chatTemplateKwargs, images).length
      );
    }
    const { messages, promptIds: given, goesOn, chatTemplateKwargs, parameters } = call.request;
    const tooMany = this.tokensBeyond(messages, chatTemplateKwargs);
    if (tooMany !== undefined) throw this.tooLong(`about ${tooMany}`);
    const shown = call.images?.map(imagePrompt);
    const ids = given ? [...given] : promptIds(this.tokenizer, messages, chatTemplateKwargs, shown);
    this.check(ids, parameters);
    const constraint = call.constraint && this.grammars.compile(call.constraint);
    const images = this.place(call.images, ids);
    const run = this.scheduler.run({
      promptIds: ids,
      client: call.client,
      ...(images && { images }),
      parameters,
      constraint,
      ...(goesOn && { goesOn }),
      ...context,
    });
    await run.catch((error: unknown) => {
      throw call.constraint ? constraintProblem(call.constraint.constraint, error) : error;
    });
    return ids.length;
  }

  private place(images: readonly EncodedImage[] = [], ids: readonly number[]): PromptImages | undefined {
    const { imageTokenId } = this.settings.config;
    if (images.length === 0 || imageTokenId === undefined) return undefined;
    return new PromptImages(ids, imageTokenId, images);
  }

  dispose(): Promise<void> {
    return this.loaded.backend.dispose();
  }

  private get engineLoad(): EngineLoad {
    const { sequences, prefixes } = this.loaded.backend.heldBytes;
    return { ...this.scheduler.requests, sequenceBytes: sequences, prefixBytes: prefixes };
  }

  private tokensBeyond(
    messages: GenerateRequest['messages'],
    kwargs: GenerateRequest['chatTemplateKwargs'],
  ): number | undefined {
    return tokensBeyond(this.tokenizer, messages, kwargs, this.settings.config.contextLength);
  }

  private tooLong(tokens: number | string): MegaNestError {
    return promptTooLong(this.settings.id, this.settings.config.contextLength, tokens);
  }

  private check(
    ids: readonly number[],
    { logit_bias: bias, n = 1, best_of: bestOf = n }: GenerationParameters,
  ): void {
    const { id: model, config } = this.settings;
    if (ids.length === 0) {
      throw new MegaNestError('invalid_request', { detail: 'The prompt is empty.', param: 'messages' });
    }
    if (bestOf < n) {
      const detail = `best_of is ${bestOf}, but n is ${n}; best_of must be at least n.`;
      throw new MegaNestError('invalid_request', { detail, param: 'best_of' });
    }
    if (ids.length >= config.contextLength) {
      throw this.tooLong(ids.length);
    }
    const strange = ids.find((id) => id >= config.vocabularySize);
    if (strange !== undefined) {
      const detail = `${model} has no token ${strange}.`;
      throw new MegaNestError('invalid_request', { detail, param: 'prompt' });
    }
    const unknown = Object.keys(bias ?? {}).find((token) => Number(token) >= config.vocabularySize);
    if (unknown) {
      const detail = `${model} has no token ${unknown}.`;
      throw new MegaNestError('invalid_request', { detail, param: `logit_bias.${unknown}` });
    }
  }

  /** The first passes allocate memory, so they run before the first request. */
  private async warmUp(): Promise<void> {
    const ids = this.tokenizer.encode('a');
    const signal = new AbortController().signal;
    const parameters = { max_tokens: 2, ignore_eos: true };
    await this.scheduler.run({ promptIds: ids, parameters, signal, emit: () => {} });
  }
}
