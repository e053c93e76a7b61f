import { MegaNestError, type ChatMessage, type ModelInfo, type TemplateVariables } from '#contracts';
import { estimateTokens } from '#text';
import { z } from 'zod';
import type { GenerateRequest, GenerationEvent, Generator } from '#generation';
import { firstChatModel, purposeFields } from './choose-model.js';
import { completionEvents } from './completion-events.js';
import { readCompletionStream } from './completion-stream.js';
import {
  engineKind,
  type EngineKind,
  askContextLength,
  lengthFields,
  type ContextLength,
  listedLength,
} from './engine-kind.js';
import { remoteParameters } from './remote-constraint.js';
import { remoteMessages, remoteTools } from './remote-messages.js';
import { RemoteServer, type RemoteOptions } from './remote-server.js';
import { thinkingFields, variablesWithoutThinking } from './thinking-fields.js';

export interface RemoteGeneratorOptions extends RemoteOptions {
  /** Id of one of the engine's models; default: the first in its list that chats. */
  readonly model?: string;
  /** Kinds of input that the model accepts; default: text. The engine's model list does not contain them. */
  readonly modalities?: ModelInfo['modalities'];
  /** Maximum tokens of prompt and completion; default: the length that the engine reports. */
  readonly contextLength?: number;
}

/** A generator with a check of its engine that generates nothing. */
export interface RemoteGenerator extends Generator {
  /** Template variables that ask the model not to reason. Its engine gets them as the fields that it reads. */
  readonly withoutThinking: TemplateVariables;
  /** Checks that the engine answers. Errors: service_unavailable, bad_upstream. */
  check(signal: AbortSignal): Promise<void>;
}

/** Context length if the engine does not report one. */
const assumedContextLength = 8192;

const modelsSchema = z.looseObject({
  data: z.array(
    z.looseObject({
      id: z.string(),
      created: z.int().nullish().catch(null),
      owned_by: z.string().nullish().catch(null),
      ...lengthFields,
      ...purposeFields,
    }),
  ),
});

/**
 * Generates on an OpenAI-compatible server (vLLM, TGI, Ollama, OVMS); the endpoint may end in `/v1`. Errors:
 * service_unavailable, bad_upstream, model_not_found if the server does not list the model.
 */
export async function openRemoteGenerator(options: RemoteGeneratorOptions): Promise<RemoteGenerator> {
  const endpoint = options.endpoint.replace(/\/+$/, '').replace(/\/v1$/, '');
  const server = new RemoteServer('llm', { ...options, endpoint });
  const { data } = await server.json({ path: '/v1/models' }, modelsSchema);
  const model =
    options.model === undefined
      ? await firstChatModel(data, server)
      : data.find(({ id }) => id === options.model);
  if (!model) {
    const available = data.map(({ id }) => id).join(', ') || 'none';
    throw new MegaNestError('model_not_found', { model: options.model, available });
  }
  const listed = options.contextLength ?? listedLength(model);
  const [kind, asked] = await Promise.all([
    engineKind(server, model.owned_by ?? undefined),
    listed === undefined ? askContextLength(server, model.id) : undefined,
  ]);
  const length: ContextLength =
    listed === undefined ? (asked ?? { tokens: assumedContextLength, isGuess: true }) : { tokens: listed };
  const info = {
    id: model.id,
    revision: 'remote',
    backend: 'openai',
    maxInputTokens: length.tokens,
    ...(length.isGuess && { assumesLength: true as const }),
    created: model.created ?? Math.floor(Date.now() / 1000),
    ...(options.modalities && { modalities: options.modalities }),
  };
  return new OpenAiGenerator(info, server, kind);
}

class OpenAiGenerator implements RemoteGenerator {
  /** False after the engine turned out not to have vLLM's `/tokenize`. */
  #counts = true;

  constructor(
    readonly info: ModelInfo,
    private readonly server: RemoteServer,
    private readonly kind: EngineKind,
  ) {}

  async *generate(
    request: GenerateRequest,
    signal?: AbortSignal,
  ): AsyncGenerator<GenerationEvent, void, void> {
    const left = new AbortController();
    const ended = signal ? AbortSignal.any([signal, left.signal]) : left.signal;
    try {
      await this.#assertFits(request);
      const response = await this.server.send({ ...this.#call(request), signal: ended });
      const { messages, chatTemplateKwargs, parameters } = request;
      yield* completionEvents(readCompletionStream(response, this.server, ended), {
        choices: parameters.n ?? 1,
        promptTokens: () => this.countPromptTokens(messages, chatTemplateKwargs),
        server: this.server,
      });
    } finally {
      left.abort();
    }
  }

  get withoutThinking(): TemplateVariables {
    return variablesWithoutThinking({ model: this.info.id });
  }

  /** Counts exactly on engines with vLLM's `/tokenize`; otherwise estimates from the length. */
  async countPromptTokens(
    messages: readonly ChatMessage[] | string,
    chatTemplateKwargs?: Readonly<Record<string, unknown>>,
  ): Promise<number> {
    const counted = this.#counts ? await this.#count(messages, chatTemplateKwargs) : undefined;
    return counted ?? estimate(messages);
  }

  async check(signal: AbortSignal): Promise<void> {
    await this.server.json({ path: '/v1/models', signal }, modelsSchema);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  /**
   * Refuses a prompt that is too long, because some engines truncate it silently. A token has at least one byte, so a
   * short prompt is not counted. If the engine cannot count, only a prompt of about twice the limit is refused. Errors:
   * context_length_exceeded.
   */
  async #assertFits({ messages, chatTemplateKwargs }: GenerateRequest): Promise<void> {
    const { id: model, maxInputTokens: limit, assumesLength } = this.info;
    if (assumesLength || Buffer.byteLength(textOf(messages)) <= limit) return;
    const counted = this.#counts ? await this.#count(messages, chatTemplateKwargs) : undefined;
    const tokens = counted ?? Math.floor(estimate(messages) / 2);
    if (tokens <= limit) return;
    const param = 'messages';
    throw new MegaNestError('context_length_exceeded', {
      tokens: counted ?? `about ${estimate(messages)}`,
      model,
      limit,
      param,
    });
  }

  #call(request: GenerateRequest) {
    const { messages, parameters, chatTemplateKwargs, labels } = request;
    const prompt =
      typeof messages === 'string'
        ? { prompt: messages }
        : { messages: remoteMessages(messages), ...remoteTools(request) };
    const { max_tokens, ...fields } = remoteParameters(parameters, this.kind);
    // OpenAI's reasoning models refuse the older name.
    const limitName =
      this.kind === 'openai' && typeof messages !== 'string' ? 'max_completion_tokens' : 'max_tokens';
    const body = {
      ...fields,
      ...(max_tokens !== undefined && { [limitName]: max_tokens }),
      ...prompt,
      ...labels,
      model: this.info.id,
      stream: true,
      stream_options: { include_usage: true },
      ...thinkingFields({ kind: this.kind, model: this.info.id }, chatTemplateKwargs).fields,
    };
    return { path: typeof messages === 'string' ? '/v1/completions' : '/v1/chat/completions', body };
  }

  async #count(
    messages: readonly ChatMessage[] | string,
    kwargs?: Readonly<Record<string, unknown>>,
  ): Promise<number | undefined> {
    const input =
      typeof messages === 'string' ? { prompt: messages } : { messages: remoteMessages(messages) };
    const body = { model: this.info.id, ...input, ...(kwargs && { chat_template_kwargs: kwargs }) };
    try {
      const { count } = await this.server.json(
        { path: '/tokenize', body },
        z.looseObject({ count: z.int() }),
      );
      return count;
    } catch (error) {
      if (!(error instanceof MegaNestError) || error.code === 'service_unavailable') throw error;
      // Only an unknown path turns the counting off; another refusal concerns one request only.
      if (isUnknownPath(error)) this.#counts = false;
      return undefined;
    }
  }
}

/** True if the engine lacks the path or uses it for something else. A status 500 may be the fault of one prompt. */
function isUnknownPath({ code, message }: MegaNestError): boolean {
  return code === 'bad_upstream' && !message.includes('answered 500');
}

function estimate(messages: readonly ChatMessage[] | string): number {
  return estimateTokens(textOf(messages));
}

function textOf(messages: readonly ChatMessage[] | string): string {
  return typeof messages === 'string' ? messages : messages.map(({ content }) => content).join('\n');
}
