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
} from '#contracts';

/** How a model's prompts are written: the template as it stands in its files, and what it makes of a conversation. */
export interface ChatTemplate {
  readonly source: string;
  /** Errors: invalid_request where the template refuses the conversation. */
  render(messages: readonly ChatMessage[], kwargs?: Readonly<Record<string, unknown>>): string;
}

export interface GenerateRequest {
  /** A conversation, or a prompt that is rendered already. */
  readonly messages: readonly ChatMessage[] | string;
  /** Variables for the chat template, e.g. `tools` or `enable_thinking`. */
  readonly chatTemplateKwargs?: Readonly<Record<string, unknown>>;
  readonly parameters: GenerationParameters;
  /** For engines without a `template` here: they write the tools into the prompt and find the calls in the text. */
  readonly tools?: readonly Tool[];
  readonly toolChoice?: ToolChoice;
  readonly parallelToolCalls?: boolean;
  /** For engines elsewhere. */
  readonly labels?: RequestLabels;
}

/** A step of one of the answers. */
export interface GenerationEvent {
  /** Which of the n answers. */
  readonly choice: number;
  /** New text; whole characters, never a part of a stop string. May be empty. */
  readonly text: string;
  /** The text is said in the place of an answer, where the engine tells that apart. */
  readonly refusal?: boolean;
  /** Tokens that the text came from. */
  readonly tokenIds: number[];
  /** One per token, where asked for. */
  readonly logprobs?: TokenLogprob[];
  /** On the last event of a choice. */
  readonly finishReason?: 'stop' | 'length' | 'tool_calls' | 'content_filter';
  /** What the model thinks, and the tools it calls, where the engine tells them apart from the text. */
  readonly reasoning?: string;
  readonly toolCalls?: ToolCallDelta[];
  /** On the first event of a local engine's stream, for consumers that leave before its end. */
  readonly prompt?: Pick<TokenUsage, 'promptTokens' | 'cachedTokens'>;
  /** On the last event of the stream. */
  readonly usage?: TokenUsage;
}

/** What an engine is busy with. */
export interface EngineLoad {
  /** Requests that have a place, and requests that wait for one. */
  readonly running: number;
  readonly waiting: number;
  /** Bytes of keys and values: of the requests that run, and of earlier prompts' beginnings. */
  readonly sequenceBytes: number;
  readonly prefixBytes: number;
}

/** A decoder that continues conversations. */
export interface Generator {
  readonly info: ModelInfo;
  /** Why the model runs on its exporter's graph rather than one that we compile; absent where it is compiled. */
  readonly fallback?: string;
  /** Of a local model; a remote engine writes its prompts itself. */
  readonly template?: ChatTemplate;
  /**
   * Streams the answers. Aborting the signal, or not consuming on, ends the work within one token.
   * Errors: context_length_exceeded, invalid_request, overloaded (with retryAfter), cancelled, service_unavailable.
   */
  generate(request: GenerateRequest, signal?: AbortSignal): AsyncGenerator<GenerationEvent, void, void>;
  /** Tokens of the prompt that the conversation becomes. */
  countPromptTokens(
    messages: readonly ChatMessage[] | string,
    chatTemplateKwargs?: Readonly<Record<string, unknown>>,
  ): Promise<number>;
  /** Texts of the tokens of a text, which together are the text. Of a local model. */
  tokenise?(text: string): string[];
  /** Of a local model; answered between two passes. */
  load?(): Promise<EngineLoad>;
  close(): Promise<void>;
}
