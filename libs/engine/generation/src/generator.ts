import { availableParallelism } from 'node:os';
import { builtFile, currentClient, eventsOf, noteWork } from '#platform/foundation';
import { MegaNestError, unsupportedField, type ChatMessage, type ModelInfo } from '#platform/contracts';
import { ConstraintReader } from '#engine/grammar';
import {
  engineSettings,
  canCompileDecoder,
  readDecoderConfig,
  resolveModel,
  describeWeights,
  TextTokenizer,
  TokenVocabulary,
  WorkerChannel,
} from '#engine/models';
import type { ModelLoadOptions, WeightType } from '#engine/models';
import type { WeightBlock } from '#engine/onnx-compiler';
import { type GivenImage, type ImageLayout, imagePrompt, VisionEncoder } from '#engine/vision';
import {
  encodeImages,
  imagesOf,
  readImages,
  type ReadImages,
  withoutImageData,
} from './images/request-images.js';
import { LocalCodec } from './local-codec.js';
import { promptIds, promptLength, promptTooLong } from './scheduling/prompt-ids.js';
import type {
  ChatTemplate,
  EngineLoad,
  GenerateRequest,
  GenerationEvent,
  Generator,
  GeneratorCall,
  GeneratorReady,
  GeneratorResult,
  GeneratorSettings,
  TokenCodec,
  WeightChoice,
} from './generator-interface.js';

/** Options of {@link loadGenerator}. */
export interface GeneratorLoadOptions extends ModelLoadOptions {
  /** Threads of one operator; default: the CPU cores. */
  readonly threads?: number;
  /** Maximum number of concurrent completions; default 16. */
  readonly maxAnswers?: number;
  /** Maximum number of queued requests; default 64. */
  readonly queueCapacity?: number;
  /** Lowers the model's context length. */
  readonly contextLength?: number;
  /**
   * Precision of the weights of a compiled graph on the CPU; default `auto`: int8, or int4 if int8 does not fit the
   * free memory. On another device fp32. For a model that cannot be compiled: precision of the exported graph.
   */
  readonly weights?: WeightChoice;
  /** Weights of a compiled graph that share a scale; default 32, or `row` for a checkpoint of int8 with a scale a row. */
  readonly block?: WeightBlock;
  /**
   * Precision of the KV cache; default `auto`: int8 if the weights are int8 or int4 and float would take more than 16 KiB a
   * position, or if float would not fit the memory. On WebGPU always float.
   */
  readonly keyValues?: 'auto' | 'int8' | 'float';
  /** Bytes for the KV caches of running requests; default 1 GiB. Further requests wait. */
  readonly sequenceMemoryBytes?: number;
  /** Bytes for cached prompt prefixes; default 256 MiB. 0 turns the prefix cache off. */
  readonly prefixCacheBytes?: number;
  /**
   * Bytes for a second copy of the weights, with which few answers at a time are written faster; default 1 GiB, and at most
   * half of the free memory. int4 weights use a quarter of it. A model that needs more does without; 0 turns it off.
   */
  readonly kernelBytes?: number;
}

type GeneratorChannel = WorkerChannel<GeneratorReady, GeneratorCall, GenerationEvent, GeneratorResult>;

/** Types of exported graphs for each precision. */
const graphTypes: Readonly<Record<WeightChoice, readonly WeightType[] | undefined>> = {
  auto: undefined,
  fp32: ['fp32'],
  int8: ['quantized', 'int8', 'uint8'],
  int4: ['q4', 'q4f16'],
};

/**
 * Loads a decoder model in a worker thread. `source`: a bundled name, a folder, or an id on the Hugging Face hub.
 * Errors: ModelLoadError.
 *
 * @example
 *   import { loadGenerator } from '#engine/generation';
 *   import assert from 'node:assert/strict';
 *
 *   const generator = await loadGenerator('nano-chat', { modelsDirectory: 'models' });
 *   const messages = [{ role: 'user' as const, content: 'Hello!' }];
 *   let [text, tokens] = ['', 0];
 *   for await (const event of generator.generate({ messages, parameters: { max_tokens: 8, temperature: 0 } })) {
 *     text += event.text;
 *     tokens = event.usage?.completionTokens ?? tokens;
 *   }
 *   assert.ok(text.length > 0 && tokens > 0 && tokens <= 8);
 *   await generator.close();
 */
export async function loadGenerator(source: string, given: GeneratorLoadOptions = {}): Promise<Generator> {
  const weightTypes = given.weightTypes ?? graphTypes[given.weights ?? 'auto'];
  const options = { ...given, ...(weightTypes && { weightTypes }) };
  const { id, directory } = await resolveModel(source, options, canCompileDecoder);
  const config = await readDecoderConfig(directory);
  const contextLength = Math.min(config.contextLength, options.contextLength ?? Infinity);
  const settings: GeneratorSettings = {
    id,
    directory,
    config: { ...config, contextLength },
    device: options.device ?? 'auto',
    threads: options.threads ?? availableParallelism(),
    maxAnswers: options.maxAnswers ?? 16,
    engine: engineSettings(directory, options),
    weights: options.weights ?? 'auto',
    block: options.block,
    keyValues: options.keyValues ?? 'auto',
    memory: {
      sequenceBytes: options.sequenceMemoryBytes ?? 2 ** 30,
      prefixBytes: options.prefixCacheBytes ?? 2 ** 28,
    },
    kernelBytes: options.kernelBytes ?? 2 ** 30,
  };
  const channel: GeneratorChannel = new WorkerChannel(
    builtFile('generator.worker'),
    settings,
    options.hangLimitMs,
  );
  try {
    const { backend, weightsFile, fallback, takesImages } = await channel.start();
    const weights = await describeWeights(weightsFile, settings.engine.compiledDirectory);
    const { temperature, top_p = 1 } = config.defaults;
    const defaults = { temperature, top_p };
    const modalities = takesImages ? { modalities: ['text' as const, 'image' as const] } : {};
    const info = { id, ...weights, ...modalities, backend, maxInputTokens: contextLength, defaults };
    const tokenizer = await TextTokenizer.load(directory);
    const capacity = settings.maxAnswers + (options.queueCapacity ?? 64);
    const vocabulary = await TokenVocabulary.load(directory);
    const vision = takesImages ? await loadVision(settings, options) : undefined;
    return new OnnxGenerator(info, channel, { tokenizer, vocabulary, vision }, capacity, fallback);
  } catch (error) {
    await channel.close();
    throw error;
  }
}

/** Loads the vision tower. Its weights are int8, also where those of the text model have 4 bits. */
function loadVision(
  { directory, engine, weights, threads }: GeneratorSettings,
  { hangLimitMs }: GeneratorLoadOptions,
): Promise<VisionEncoder> {
  const isExact = weights === 'fp32' || engine.weights === 'fp32';
  const settings = { directory, cacheDir: engine.compiledDirectory, threads };
  return VisionEncoder.load({ ...settings, weights: isExact ? 'fp32' : 'int8' }, hangLimitMs);
}

/**
 * Maximum characters of a prompt that is tokenized on the caller's thread, in some milliseconds; the worker would
 * reply only after its current pass.
 */
const maxCountedHere = 16_384;

/** Clients that can fill the queue of the engine at the same time. */
const fullShares = 4;

class OnnxGenerator implements Generator {
  /** Requests under way by client. */
  private readonly inFlight = new Map<string, number>();
  /** Smoothed duration of the requests so far; the `retryAfter` of a refused request. */
  private averageSeconds = 1;
  private readonly reader = new ConstraintReader();

  constructor(
    readonly info: ModelInfo,
    private readonly channel: GeneratorChannel,
    private readonly parts: { tokenizer: TextTokenizer; vocabulary: TokenVocabulary; vision?: VisionEncoder },
    private readonly capacity: number,
    readonly fallback?: string,
  ) {}

  get template(): ChatTemplate | undefined {
    const { tokenizer } = this.parts;
    const source = tokenizer.chatTemplate;
    if (source === undefined) return undefined;
    return { source, render: (messages, kwargs) => tokenizer.renderChat(messages, kwargs) };
  }

  generate(request: GenerateRequest, signal?: AbortSignal): AsyncGenerator<GenerationEvent, void, void> {
    return eventsOf<GenerationEvent>(async (onEvent, ended) => {
      const client = currentClient();
      this.refuseOverload(client);
      const startedAt = performance.now();
      this.count(client, 1);
      await this.send(request, ended, onEvent).finally(() => this.countOut(client, startedAt));
    }, signal);
  }

  /** Constraints are parsed in another thread, so that a hostile constraint cannot stall the decoder. */
  private async send(
    request: GenerateRequest,
    signal: AbortSignal,
    onEvent: (event: GenerationEvent) => void,
  ): Promise<void> {
    const { constraint: requested } = request.parameters;
    const constraint = requested && (await this.reader.read(requested, signal));
    const read = await this.readImages(request.messages, (vision, image) => vision.read(image, signal));
    const { id, maxInputTokens: limit } = this.info;
    if (read && read.tokens >= limit) throw promptTooLong(id, limit, `more than ${read.tokens}`);
    const withImages = read && {
      request: { ...request, messages: withoutImageData(request.messages) },
      images: await encodeImages(this.parts.vision!, read.images, signal),
    };
    await this.channel.call(
      {
        kind: 'generate',
        request,
        client: currentClient(),
        ...withImages,
        ...(constraint && { constraint }),
      },
      { signal, onEvent },
    );
  }

  /** Reads the images of a conversation; undefined if it has none. Errors: see {@link readImages}. */
  private async readImages<Read extends ImageLayout>(
    messages: readonly ChatMessage[] | string,
    read: (vision: VisionEncoder, image: GivenImage) => Promise<Read>,
  ): Promise<ReadImages<Read> | undefined> {
    const [first] = imagesOf(messages);
    if (!first) return undefined;
    const { vision } = this.parts;
    const { id: model, maxInputTokens: contextLength } = this.info;
    const { param = 'messages' } = first;
    if (!vision) throw unsupportedField(param, `images are not supported: ${model} reads text only`);
    return readImages(messages, contextLength, (image) => read(vision, image));
  }

  async countPromptTokens(
    messages: readonly ChatMessage[] | string,
    chatTemplateKwargs?: Readonly<Record<string, unknown>>,
  ): Promise<number> {
    const measured = await this.readImages(messages, (vision, image) => vision.measure(image));
    if (measured && measured.tokens >= this.info.maxInputTokens) return measured.tokens;
    const images = measured?.images.map(imagePrompt);
    if (promptLength(messages, chatTemplateKwargs) > maxCountedHere) {
      const shown = images ? withoutImageData(messages) : messages;
      const call = { kind: 'count' as const, messages: shown, chatTemplateKwargs, ...(images && { images }) };
      return (await this.channel.call(call)) as number;
    }
    return promptIds(this.parts.tokenizer, messages, chatTemplateKwargs, images).length;
  }

  get codec(): TokenCodec {
    return new LocalCodec(this.info, this.parts);
  }

  tokenize(text: string): string[] {
    const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
    const { tokenizer, vocabulary } = this.parts;
    return tokenizer.encode(text).map((id) => decoder.decode(vocabulary.bytesOf(id), { stream: true }));
  }

  async load(): Promise<EngineLoad> {
    return (await this.channel.call({ kind: 'load' })) as EngineLoad;
  }

  async close(): Promise<void> {
    await Promise.all([this.channel.close(), this.reader.close(), this.parts.vision?.close()]);
  }

  /** Errors: overloaded for a client with as many requests as the engine has places, or if clients fill the queue. */
  private refuseOverload(client: string): void {
    const own = this.inFlight.get(client) ?? 0;
    const all = [...this.inFlight.values()].reduce((sum, count) => sum + count, 0);
    if (own < this.capacity && all < this.capacity * fullShares) return;
    const detail =
      own < this.capacity
        ? `${all} requests under way`
        : `${own} requests of this client under way, and the limit is ${this.capacity}`;
    throw new MegaNestError('overloaded', {
      service: 'inference',
      detail,
      retryAfter: Math.max(1, Math.ceil(this.averageSeconds)),
    });
  }

  private count(client: string, more: 1 | -1): void {
    const own = (this.inFlight.get(client) ?? 0) + more;
    if (own === 0) this.inFlight.delete(client);
    else this.inFlight.set(client, own);
  }

  private countOut(client: string, startedAt: number): void {
    this.count(client, -1);
    const seconds = (performance.now() - startedAt) / 1000;
    noteWork('seconds', client, seconds);
    this.averageSeconds += (seconds - this.averageSeconds) / 8;
  }
}
