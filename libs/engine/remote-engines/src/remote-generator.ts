import { MegaNestError, type ChatMessage, type ModelInfo, type TemplateVariables } from '#platform/contracts';
import { estimateTokens } from '#platform/foundation';
import type { Response } from 'undici';
import type { GenerateRequest, GenerationEvent, TokenCodec } from '#engine/generation';
import { firstChatModel } from './choose-model.js';
import { completionEvents } from './completion-events.js';
import { readCompletionStream } from './completion-stream.js';
import {
  engineKind,
  type EngineKind,
  askContextLength,
  type ContextLength,
  listedLength,
} from './engine-kind.js';
import { modelsSchema } from './models-schema.js';
import { PromptCounter } from './prompt-counter.js';
import { RefusedFields, type AcceptedRequest } from './refused-fields.js';
import { remoteCodec } from './remote-codec.js';
import { remoteParameters } from './remote-constraint.js';
import { remoteMessages, remoteTools } from './remote-messages.js';
import type { RemoteGenerator, RemoteGeneratorOptions, ThoughtForm } from './remote-generator-interface.js';
import { RemoteServer } from './remote-server.js';
import { mayBeginWithThoughts, thinkingFields, variablesWithoutThinking } from './thinking-fields.js';

/** Time between two questions for the length of a context. */
const lengthPauseMs = 10_000;

/** Context length if the engine does not report one. */
const assumedContextLength = 8192;

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
      : // Ollama lists `name:latest` for the name alone.
        (data.find(({ id }) => id === options.model) ??
        data.find(({ id }) => id === `${options.model}:latest`));
  if (!model) {
    const available = data.map(({ id }) => id).join(', ') || 'none';
    throw new MegaNestError('model_not_found', { model: options.model, available });
  }
  const listed = options.contextLength ?? listedLength(model);
  const [kind, asked] = await Promise.all([
    options.kind ?? engineKind(server, model.owned_by ?? undefined),
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
  const counter = new PromptCounter(server, model.id, kind);
  const opens = await counter.opensThinking();
  const thoughts = { begin: opens ?? mayBeginWithThoughts(kind, model.id), isKnown: opens === true };
  return new OpenAiGenerator(info, { server, kind, counter, thoughts });
}

interface Engine {
  server: RemoteServer;
  kind: EngineKind;
  counter: PromptCounter;
  thoughts: ThoughtForm;
}

class OpenAiGenerator implements RemoteGenerator {
  readonly #refused = new RefusedFields();
  #info: ModelInfo;
  #lengthAskedAt = 0;

  constructor(
    info: ModelInfo,
    private readonly engine: Engine,
  ) {
    this.#info = info;
  }

  get info(): ModelInfo {
    return this.#info;
  }

  get kind(): EngineKind {
    return this.engine.kind;
  }

  get thoughts(): ThoughtForm {
    return this.engine.thoughts;
  }

  async *generate(
    request: GenerateRequest,
    signal?: AbortSignal,
  ): AsyncGenerator<GenerationEvent, void, void> {
    const left = new AbortController();
    const ended = signal ? AbortSignal.any([signal, left.signal]) : left.signal;
    try {
      await this.#assertFits(request);
      const response = await this.#send(request, ended);
      const { messages, chatTemplateKwargs, parameters } = request;
      const { server } = this.engine;
      yield* completionEvents(readCompletionStream(response, server, ended), {
        choices: parameters.n ?? 1,
        promptTokens: () => this.countPromptTokens(messages, chatTemplateKwargs),
        server,
      });
      if (this.#info.assumesLength) void this.#learnLength();
    } finally {
      left.abort();
    }
  }

  get withoutThinking(): TemplateVariables {
    return variablesWithoutThinking({ model: this.info.id });
  }

  /** Counts exactly where the engine has its tokenizer in its API (vLLM, llama.cpp); otherwise estimates. */
  async countPromptTokens(
    messages: readonly ChatMessage[] | string,
    chatTemplateKwargs?: Readonly<Record<string, unknown>>,
  ): Promise<number> {
    return (await this.engine.counter.count(messages, chatTemplateKwargs)) ?? estimate(messages);
  }

  get codec(): TokenCodec | undefined {
    const { server, kind } = this.engine;
    return remoteCodec(server, this.info.id, kind);
  }

  async check(signal: AbortSignal): Promise<void> {
    await this.engine.server.json({ path: '/v1/models', signal }, modelsSchema);
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
    const counted = await this.engine.counter.count(messages, chatTemplateKwargs);
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

  /** Ollama tells the length that it serves once it has loaded the model, which the first request does. */
  async #learnLength(): Promise<void> {
    if (Date.now() - this.#lengthAskedAt < lengthPauseMs) return;
    this.#lengthAskedAt = Date.now();
    const length = await askContextLength(this.engine.server, this.#info.id).catch(() => undefined);
    if (!length || length.isGuess) return;
    const { assumesLength: _guess, ...info } = this.#info;
    this.#info = { ...info, maxInputTokens: length.tokens };
  }

  /** Sends a request without the fields that the engine refuses. Repeats it once, if the engine refuses one more. */
  async #send(request: GenerateRequest, signal: AbortSignal): Promise<Response> {
    const { path, body: whole, ignored: unsent } = this.#call(request);
    const send = async () => {
      const { body, ignored } = this.#refused.adapt(whole);
      const response = await this.engine.server.send({ path, body, signal });
      request.reportIgnored?.([...unsent, ...ignored]);
      return response;
    };
    try {
      return await send();
    } catch (error) {
      const isNew =
        error instanceof MegaNestError && this.#refused.learn(error, this.#refused.adapt(whole).body);
      if (!isNew) throw error;
      return await send();
    }
  }

  #call(request: GenerateRequest): { path: string } & AcceptedRequest {
    const { messages, parameters, chatTemplateKwargs, labels } = request;
    const { kind } = this.engine;
    const prompt =
      typeof messages === 'string'
        ? plainPrompt(request, messages)
        : { messages: remoteMessages(messages), ...remoteTools(request) };
    const { max_tokens, ...given } = remoteParameters(parameters, kind);
    const fields = typeof messages === 'string' ? withPlainLogprobs(given) : given;
    // OpenAI's reasoning models refuse the older name.
    const limitName =
      kind === 'openai' && typeof messages !== 'string' ? 'max_completion_tokens' : 'max_tokens';
    const thinking = thinkingFields({ kind, model: this.info.id }, chatTemplateKwargs);
    // Nobody reads the parts of a whole answer.
    const form = request.whole ? {} : { stream: true, stream_options: { include_usage: true } };
    const body = {
      ...fields,
      ...(max_tokens !== undefined && { [limitName]: max_tokens }),
      ...prompt,
      ...labels,
      model: this.info.id,
      ...form,
      ...thinking.fields,
    };
    const path = typeof messages === 'string' ? '/v1/completions' : '/v1/chat/completions';
    return { path, body, ignored: thinking.ignoresVariables ? ['chat_template_kwargs'] : [] };
  }
}

/** The prompt of a plain completion, as a text or as tokens. */
function plainPrompt({ promptIds, suffix }: GenerateRequest, text: string) {
  return { prompt: promptIds ?? text, ...(suffix !== undefined && { suffix }) };
}

/** In plain completions `logprobs` is the number of alternatives. */
function withPlainLogprobs({ logprobs, top_logprobs, ...fields }: Record<string, unknown>) {
  return logprobs === true ? { ...fields, logprobs: top_logprobs ?? 0 } : fields;
}

function estimate(messages: readonly ChatMessage[] | string): number {
  return estimateTokens(textOf(messages));
}

function textOf(messages: readonly ChatMessage[] | string): string {
  return typeof messages === 'string' ? messages : messages.map(({ content }) => content).join('\n');
}
