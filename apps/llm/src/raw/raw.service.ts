import {
  assertServedModel,
  unsupportedField,
  type complete,
  type detokenize,
  type GenerationChunk,
  type MegaNestError,
  type ParsedRequestOf,
  type ReplyOf,
  type tokenize,
} from '#platform/contracts';
import type { GenerateRequest, GenerationEvent, TokenCodec } from '#engine/generation';
import { measureGeneration, Metrics } from '#platform/service-kit';
import { Inject, Injectable } from '@nestjs/common';
import { generatorToken, type LlmGenerator } from '../open-generator.js';
import { LlmService } from '../llm.service.js';

/** The language model without its chat template: prompts as they are, and tokens. */
@Injectable()
export class RawService {
  constructor(
    @Inject(generatorToken) private readonly generator: LlmGenerator,
    @Inject(LlmService) private readonly llm: Pick<LlmService, 'prepare' | 'promptOf'>,
    @Inject(Metrics) private readonly metrics: Metrics,
  ) {}

  /** Goes on with a prompt. Errors: those of `llm.complete`. */
  complete(
    { prompt, suffix, model, labels, ...parameters }: ParsedRequestOf<typeof complete>,
    signal: AbortSignal,
    traceparent?: string,
  ): AsyncIterable<GenerationChunk> {
    const { id } = this.generator.info;
    assertServedModel(model, id);
    const ignored: string[] = [];
    const request: GenerateRequest = {
      ...this.#promptOf(prompt, suffix),
      parameters,
      goesOn: true,
      // A local model's thread cannot get a function.
      ...(this.generator.check && {
        ...(labels && { labels }),
        reportIgnored: (fields: readonly string[]) => void ignored.push(...fields),
      }),
    };
    const chunks = toChunks(this.generator.generate(request, signal), { model: id, ignored });
    const genAi = { side: 'server', model: id, traceparent } as const;
    return measureGeneration(this.metrics, 'complete', chunks, { countUsage: true, genAi });
  }

  async tokenize(request: ParsedRequestOf<typeof tokenize>): Promise<ReplyOf<typeof tokenize>> {
    const { text, messages, tools, model, add_special_tokens: special = true } = request;
    await this.llm.prepare();
    const codec = this.#codec(model);
    const tokens = messages
      ? await this.#encodeChat(codec, { messages, tools })
      : await codec.encode(text ?? '', { special });
    const texts = tokens.flatMap((token) => codec.textOf(token) ?? []);
    return { tokens, texts, maxInputTokens: this.generator.info.maxInputTokens };
  }

  async detokenize({
    tokens,
    model,
  }: ParsedRequestOf<typeof detokenize>): Promise<ReplyOf<typeof detokenize>> {
    await this.llm.prepare();
    return { text: await this.#codec(model).decode(tokens) };
  }

  async #encodeChat(
    codec: TokenCodec,
    asked: Pick<ParsedRequestOf<typeof tokenize>, 'messages' | 'tools'>,
  ): Promise<number[]> {
    const { messages = [], tools } = asked;
    const { messages: planned, chatTemplateKwargs } = await this.llm.promptOf({ messages, tools });
    return typeof planned === 'string'
      ? codec.encode(planned, { special: true })
      : codec.encodeChat(planned, chatTemplateKwargs);
  }

  #codec(model: string | undefined): TokenCodec {
    const { info, codec } = this.generator;
    assertServedModel(model, info.id);
    if (codec) return codec;
    throw unsupportedField('model', `the engine of ${info.id} has no API for its tokens`);
  }

  /** A remote engine writes the prompt around a gap itself. */
  #promptOf(
    prompt: string | readonly number[],
    suffix: string | undefined,
  ): Pick<GenerateRequest, 'messages' | 'promptIds' | 'suffix'> {
    const isText = typeof prompt === 'string';
    const whole = isText ? { messages: prompt } : { messages: '', promptIds: prompt };
    if (suffix === undefined) return whole;
    if (this.generator.check) return { ...whole, suffix };
    const around = isText ? this.generator.codec?.promptAround?.(prompt, suffix) : undefined;
    if (around === undefined) throw this.#noSuffix(isText);
    return { messages: around };
  }

  #noSuffix(isText: boolean): MegaNestError {
    const reason = isText
      ? `${this.generator.info.id} does not fill in the middle`
      : 'needs a prompt of text, not of tokens';
    return unsupportedField('suffix', reason);
  }
}

/** The events of a generation as chunks; the first one names the fields that the engine does not take. */
async function* toChunks(
  events: AsyncIterable<GenerationEvent>,
  { model, ignored }: { model: string; ignored: string[] },
): AsyncGenerator<GenerationChunk, void, void> {
  for await (const { choice, text, logprobs, finishReason, usage } of events) {
    const named = ignored.splice(0);
    yield {
      choice,
      text,
      ...(logprobs && { logprobs }),
      ...(finishReason && { finishReason }),
      ...(usage && { usage, model }),
      ...(named.length > 0 && { ignored: named }),
    };
  }
}
