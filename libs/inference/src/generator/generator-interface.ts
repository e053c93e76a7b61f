import type { ChatMessage, GenerationParameters, ModelInfo, TokenLogprob, TokenUsage } from '#contracts';

export interface GenerateRequest {
  /** A conversation, or a prompt that is rendered already. */
  readonly messages: readonly ChatMessage[] | string;
  /** Variables for the chat template, e.g. `tools` or `enable_thinking`. */
  readonly chatTemplateKwargs?: Readonly<Record<string, unknown>>;
  readonly parameters: GenerationParameters;
}

/** A step of one of the answers. */
export interface GenerationEvent {
  /** Which of the n answers. */
  readonly choice: number;
  /** New text; whole characters, never a part of a stop string. May be empty. */
  readonly text: string;
  /** Tokens that the text came from. */
  readonly tokenIds: number[];
  /** One per token, where asked for. */
  readonly logprobs?: TokenLogprob[];
  /** On the last event of a choice. */
  readonly finishReason?: 'stop' | 'length';
  /** On the first event of a local engine's stream, for consumers that leave before its end. */
  readonly prompt?: Pick<TokenUsage, 'promptTokens' | 'cachedTokens'>;
  /** On the last event of the stream. */
  readonly usage?: TokenUsage;
}

/** A decoder that continues conversations. */
export interface Generator {
  readonly info: ModelInfo;
  /** Why the model runs on its exporter's graph rather than one that we compile; absent where it is compiled. */
  readonly fallback?: string;
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
  close(): Promise<void>;
}
