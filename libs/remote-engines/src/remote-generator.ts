import { MegaNestError, type ChatMessage, type ModelInfo } from '#contracts';
import { z } from 'zod';
import type { GenerateRequest, GenerationEvent, Generator } from '#generation';
import { completionEvents, readCompletionStream } from './completion-stream.js';
import {
  engineKind,
  thinkingFields,
  type EngineKind,
  askContextLength,
  lengthFields,
  listedLength,
} from './engine-kind.js';
import { remoteParameters } from './remote-constraint.js';
import { remoteMessages, remoteTools } from './remote-messages.js';
import { RemoteServer, type RemoteOptions } from './remote-server.js';

export interface RemoteGeneratorOptions extends RemoteOptions {
  /** One of the engine's models; default the first that it lists. */
  readonly model?: string;
  /** What the model reads; text alone where absent. Nobody else says so: the engine's list of models does not. */
  readonly modalities?: ModelInfo['modalities'];
  /** Tokens of prompt and answer; what the engine says where absent. */
  readonly contextLength?: number;
}

/** A generator whose engine can be asked whether it is there, without making it write. */
export interface RemoteGenerator extends Generator {
  /** Errors: service_unavailable, bad_upstream. */
  check(signal: AbortSignal): Promise<void>;
}

/** Tokens of prompt and answer, where the engine does not say. */
const assumedContextLength = 8192;
/** Rough, and only used where the engine does not count for us. */
const charactersPerToken = 4;

const modelsSchema = z.looseObject({
  data: z.array(
    z.looseObject({
      id: z.string(),
      created: z.int().optional(),
      owned_by: z.string().nullish().catch(null),
      ...lengthFields,
    }),
  ),
});

/**
 * Writes answers on an OpenAI-compatible server (vLLM, TGI, Ollama, OVMS); the endpoint may end in `/v1`. Errors:
 * service_unavailable, bad_upstream, model_not_found when it does not list the model.
 */
export async function openRemoteGenerator(options: RemoteGeneratorOptions): Promise<RemoteGenerator> {
  const endpoint = options.endpoint.replace(/\/+$/, '').replace(/\/v1$/, '');
  const server = new RemoteServer('llm', { ...options, endpoint });
  const { data } = await server.json({ path: '/v1/models' }, modelsSchema);
  const model = options.model === undefined ? data[0] : data.find(({ id }) => id === options.model);
  if (!model) {
    const available = data.map(({ id }) => id).join(', ') || 'none';
    throw new MegaNestError('model_not_found', { model: options.model, available });
  }
  const listed = options.contextLength ?? listedLength(model);
  const [kind, contextLength] = await Promise.all([
    engineKind(server, model.owned_by ?? undefined),
    listed ?? askContextLength(server, model.id),
  ]);
  const info = {
    id: model.id,
    revision: 'remote',
    backend: 'openai',
    maxInputTokens: contextLength ?? assumedContextLength,
    ...(contextLength === undefined && { assumesLength: true as const }),
    created: model.created ?? Math.floor(Date.now() / 1000),
    ...(options.modalities && { modalities: options.modalities }),
  };
  return new OpenAiGenerator(info, server, kind);
}

class OpenAiGenerator implements RemoteGenerator {
  /** vLLM counts tokens; once an engine has refused to, it is not asked again. */
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
      const chunks = readCompletionStream(response, this.server, ended);
      const countPrompt = () => this.countPromptTokens(request.messages, request.chatTemplateKwargs);
      yield* completionEvents(chunks, request.parameters.n ?? 1, countPrompt);
    } finally {
      left.abort();
    }
  }

  /** Exact with engines that have vLLM's `/tokenize`, an estimate by length with others. */
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
   * Some engines cut a prompt that is too long without a word. A token is a byte at least, so that a short prompt needs no
   * counting; where the engine does not count, one that is twice too long is refused. Errors: context_length_exceeded.
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
    const body = {
      ...remoteParameters(parameters, this.kind),
      ...prompt,
      ...labels,
      model: this.info.id,
      stream: true,
      stream_options: { include_usage: true },
      ...thinkingFields(this.kind, chatTemplateKwargs),
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
      // One request that is refused says nothing of the next: only an engine without this path is not asked again.
      if (isUnknownPath(error)) this.#counts = false;
      return undefined;
    }
  }
}

/** An engine that has no such path, or means something else by it; what one prompt can cause says nothing. */
function isUnknownPath({ code, message }: MegaNestError): boolean {
  return code === 'bad_upstream' && !message.includes('answered 500');
}

function estimate(messages: readonly ChatMessage[] | string): number {
  return Math.ceil(textOf(messages).length / charactersPerToken);
}

function textOf(messages: readonly ChatMessage[] | string): string {
  return typeof messages === 'string' ? messages : messages.map(({ content }) => content).join('\n');
}
