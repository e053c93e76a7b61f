import type {
  ChatMessage,
  GenerationParameters,
  ModelInfo,
  RequestLabels,
  TokenLogprob,
  TokenUsage,
  Tool,
  ToolCallDelta,
  ToolChoice,
} from '#platform/contracts';
import type { ReadConstraint } from '#engine/grammar';
import type { EngineChoice, EngineSettings, DecoderConfig, Device } from '#engine/models';
import type { WeightBlock, WeightPrecision } from '#engine/onnx-compiler';
import type { EncodedImage } from '#engine/vision';

/** The chat template of a model: its source, and a function that renders a conversation. */
export interface ChatTemplate {
  readonly source: string;
  /** Renders a conversation to a prompt. Errors: invalid_request if the template refuses the conversation. */
  render(messages: readonly ChatMessage[], kwargs?: Readonly<Record<string, unknown>>): string;
}

/** A request to continue a conversation or a prompt. */
export interface GenerateRequest {
  /** A conversation, or a rendered prompt. */
  readonly messages: readonly ChatMessage[] | string;
  /** The tokens of a rendered prompt, in place of `messages`. */
  readonly promptIds?: readonly number[];
  /** The completion goes on with the prompt's text, so that a space at its start stays. */
  readonly goesOn?: boolean;
  /** The text after the completion of a rendered prompt. Forwarded to remote engines. */
  readonly suffix?: string;
  /** Variables for the chat template, e.g. `tools` or `enable_thinking`. */
  readonly chatTemplateKwargs?: Readonly<Record<string, unknown>>;
  readonly parameters: GenerationParameters;
  /** For remote engines: they write the tools into the prompt and parse the calls themselves. */
  readonly tools?: readonly Tool[];
  readonly toolChoice?: ToolChoice;
  readonly parallelToolCalls?: boolean;
  /** The caller does not read parts of the answer, so that a remote engine sends it at once. */
  readonly whole?: boolean;
  /** Forwarded to remote engines. */
  readonly labels?: RequestLabels;
  /** Called before the first event with the fields that a remote engine does not take, so that they were not sent. */
  readonly reportIgnored?: (fields: readonly string[]) => void;
}

/** A part of one of the completions. */
export interface GenerationEvent {
  /** Index among the n completions. */
  readonly choice: number;
  /** New text of whole characters, never a part of a stop string. May be empty. */
  readonly text: string;
  /** The text is a refusal; set by engines that report refusals separately. */
  readonly refusal?: boolean;
  /** Token ids of the text. */
  readonly tokenIds: number[];
  /** One entry per token, if `logprobs` was requested. */
  readonly logprobs?: TokenLogprob[];
  /** On the last event of a choice. */
  readonly finishReason?: 'stop' | 'length' | 'tool_calls' | 'content_filter';
  /** Reasoning and tool calls, from engines that separate them from the text. */
  readonly reasoning?: string;
  readonly toolCalls?: ToolCallDelta[];
  /** On the first event of a local engine's stream, for consumers that stop reading early. */
  readonly prompt?: Pick<TokenUsage, 'promptTokens' | 'cachedTokens'>;
  /** On the last event of the stream. */
  readonly usage?: TokenUsage;
}

/** The load of an engine. */
export interface EngineLoad {
  /** Number of running and of queued requests. */
  readonly running: number;
  readonly waiting: number;
  /** Bytes of the KV caches: of running requests, and of cached prompt prefixes. */
  readonly sequenceBytes: number;
  readonly prefixBytes: number;
}

/** The tokens of a model. */
export interface TokenCodec {
  /** The tokens of a text; `special`: between the special tokens that the model expects. */
  encode(text: string, options: { special: boolean }): Promise<number[]>;
  /** The tokens of the prompt of a conversation. */
  encodeChat(
    messages: readonly ChatMessage[],
    chatTemplateKwargs?: Readonly<Record<string, unknown>>,
  ): Promise<number[]>;
  /** The text of tokens. Errors: invalid_request for an unknown token. */
  decode(tokens: readonly number[]): Promise<string>;
  /** The text of each token, for display; undefined where an engine does not have it. */
  textOf(token: number): string | undefined;
  /**
   * The prompt of a text with a gap before `suffix`; undefined for a model that does not fill in the middle, or whose
   * engine writes this prompt itself.
   */
  promptAround?(prefix: string, suffix: string): string | undefined;
}

/** A language model that continues conversations. */
export interface Generator {
  readonly info: ModelInfo;
  /** Reason for running the exported graph; absent if the model was compiled. */
  readonly fallback?: string;
  /** Present for local models; a remote engine renders its own prompts. */
  readonly template?: ChatTemplate;
  /**
   * Streams the completions. Aborting the signal or ending the iteration stops the work within one token. Errors:
   * context_length_exceeded, invalid_request, overloaded (with retryAfter), cancelled, service_unavailable.
   */
  generate(request: GenerateRequest, signal?: AbortSignal): AsyncGenerator<GenerationEvent, void, void>;
  /**
   * Returns the number of prompt tokens of a conversation; an approximate one if it certainly exceeds the context. Errors:
   * those of images.
   */
  countPromptTokens(
    messages: readonly ChatMessage[] | string,
    chatTemplateKwargs?: Readonly<Record<string, unknown>>,
  ): Promise<number>;
  /** Absent for a remote engine without an API for its tokens. */
  readonly codec?: TokenCodec;
  /** Splits a text into the texts of its tokens. Present for local models. */
  tokenize?(text: string): string[];
  /** Reports the load, between two passes. Present for local models. */
  load?(): Promise<EngineLoad>;
  close(): Promise<void>;
}

/** Precision of a decoder's weights; `auto`: int8, or int4 if int8 does not fit the free memory. */
export type WeightChoice = WeightPrecision | 'auto';

/** Memory limits of the KV caches. */
export interface CacheMemory {
  /** Bytes for the KV caches of running requests. */
  readonly sequenceBytes: number;
  /** Bytes for cached prefixes of earlier prompts. */
  readonly prefixBytes: number;
}

/** Settings with which the decoder worker loads its model. */
export interface GeneratorSettings {
  readonly id: string;
  readonly directory: string;
  readonly config: DecoderConfig;
  readonly device: Device;
  readonly threads: number;
  readonly maxAnswers: number;
  readonly engine: EngineSettings;
  readonly weights: WeightChoice;
  /** Weights of a compiled graph that share a scale. */
  readonly block: WeightBlock | undefined;
  /** Precision of the KV cache of a compiled graph; `auto` depends on the weights and on the size of the cache. */
  readonly keyValues: 'auto' | 'int8' | 'float';
  readonly memory: CacheMemory;
  /** Bytes for weights and caches of {@link KernelDecoder}; 0 turns it off. */
  readonly kernelBytes: number;
}

/** First message of the worker: the engine that was chosen. */
export interface GeneratorReady extends EngineChoice {
  /** Name of the engine, e.g. `onnx-cpu compiled int8` or `onnx-cpu exporter`. */
  readonly backend: string;
  /** Prompts may contain images. */
  readonly takesImages: boolean;
}

/** A call to the decoder worker. */
export type GeneratorCall =
  | { readonly kind: 'load' }
  | {
      readonly kind: 'generate';
      readonly request: GenerateRequest;
      /** The client whose share of the decoder it uses. */
      readonly client: string;
      /** The images of the conversation, in the order of {@link imagesOf}. */
      readonly images?: readonly EncodedImage[];
      /** `request.parameters.constraint` after parsing. */
      readonly constraint?: ReadConstraint;
    }
  | {
      readonly kind: 'count';
      readonly messages: readonly ChatMessage[] | string;
      /** The texts of its images in the prompt. */
      readonly images?: readonly string[];
      readonly chatTemplateKwargs?: Readonly<Record<string, unknown>>;
    };

/** Result of a call: the number of prompt tokens; for `load` the engine's load. */
export type GeneratorResult = number | EngineLoad;
