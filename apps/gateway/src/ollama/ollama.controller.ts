import { complete, decodeVectors, invalidField, parseOrThrow, unsupportedField } from '#platform/contracts';
import { RpcClient } from '#platform/messaging';
import { chatCompletionRequestSchema } from '#api/openai-api';
import {
  ApiOperation,
  type OperationDeclaration,
  Call,
  SchemaPipe,
  sendEventStream,
  setIgnored,
  type HttpCall,
} from '#platform/service-kit';
import { Body, Controller, Get, HttpCode, Inject, Post, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { setStepHeaders } from '../chat/chat-reply.js';
import { ChatService } from '../chat/chat.service.js';
import { LanguageModelsOnly } from '../completions/language-models-only.js';
import { Embeddings } from '../openai/embeddings.js';
import { ModelList } from '../openai/model-list.js';
import { answerObjects, asMessage, asResponse, collectAnswer, ollamaAnswerSchema } from './answers.js';
import { listedModel, ollamaModels, runningModel, shownModel } from './model-objects.js';
import {
  chatSchema,
  embeddingsSchema,
  embedSchema,
  generateSchema,
  showSchema,
  type OllamaChat,
  type OllamaGenerate,
} from './requests.js';
import { chatBody, generateBody, plainName, samplingOf, type ConvertedChat } from './to-chat-body.js';

/** The version of Ollama whose API this is: clients look at it. */
const apiVersion = '0.33.0';

const models = z.object({ models: z.array(z.looseObject({ name: z.string(), model: z.string() })) });

/** Ollama's clients read the text of an error. */
const errors = z.object({ error: z.string() });

function Operation(declaration: OperationDeclaration): MethodDecorator {
  return ApiOperation({ ...declaration, errors });
}

/** Ollama's API over the same models and mega services as chat completions. */
@Controller('api')
export class OllamaController {
  constructor(
    @Inject(ChatService) private readonly chats: ChatService,
    @Inject(ModelList) private readonly models: ModelList,
    @Inject(Embeddings) private readonly embeddings: Embeddings,
    @Inject(LanguageModelsOnly) private readonly languageModels: LanguageModelsOnly,
    @Inject(RpcClient) private readonly client: RpcClient,
  ) {}

  @Get('version')
  @Operation({ summary: "Get the version of Ollama's API", answer: z.object({ version: z.string() }) })
  version() {
    return { version: apiVersion };
  }

  @Get('tags')
  @Operation({ summary: "List models in Ollama's form", answer: models })
  async tags() {
    return { models: ollamaModels((await this.models.read()).all).map(listedModel) };
  }

  @Get('ps')
  @Operation({ summary: "List loaded models in Ollama's form", answer: models })
  async running() {
    return { models: ollamaModels((await this.models.read()).all).map(runningModel) };
  }

  @Post('show')
  @Operation({
    summary: "Get a model in Ollama's form",
    answer: z.looseObject({ capabilities: z.array(z.string()) }),
  })
  @HttpCode(200)
  async show(@Body(new SchemaPipe(showSchema)) { model, name = model }: z.output<typeof showSchema>) {
    if (name === undefined) throw invalidField('model', 'is required');
    return shownModel(await this.models.find(plainName(name)));
  }

  @Post('chat')
  @Operation({ summary: "Chat in Ollama's form", answer: ollamaAnswerSchema, lines: ollamaAnswerSchema })
  @HttpCode(200)
  async chat(
    @Body(new SchemaPipe(chatSchema)) request: OllamaChat,
    @Call() call: HttpCall,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    if (!request.messages?.length) return sendLoaded(reply, request.model, asMessage({ text: '' }));
    await this.#answer(chatBody(request), request, asMessage, { call, reply });
  }

  @Post('generate')
  @Operation({
    summary: "Complete a prompt in Ollama's form",
    answer: ollamaAnswerSchema,
    lines: ollamaAnswerSchema,
  })
  @HttpCode(200)
  async generate(
    @Body(new SchemaPipe(generateSchema)) request: OllamaGenerate,
    @Call() call: HttpCall,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    if (request.raw === true || request.suffix) return this.#complete(request, call, reply);
    if (!request.prompt && !request.images?.length)
      return sendLoaded(reply, request.model, asResponse({ text: '' }));
    await this.#answer(generateBody(request), request, asResponse, { call, reply });
  }

  @Post('embed')
  @Operation({
    summary: "Turn texts into vectors in Ollama's form",
    answer: z.object({ model: z.string(), embeddings: z.array(z.array(z.number())) }).loose(),
  })
  @HttpCode(200)
  async embed(@Body(new SchemaPipe(embedSchema)) body: z.output<typeof embedSchema>, @Call() call: HttpCall) {
    const startedAt = performance.now();
    const { input, model, dimensions, truncate } = body;
    const { vectors, promptTokens } = await this.#embed([input].flat(), model, call, {
      ...(dimensions && { dimensions }),
      truncate: truncate !== false,
    });
    const total_duration = Math.round((performance.now() - startedAt) * 1e6);
    return { model, embeddings: vectors, total_duration, load_duration: 0, prompt_eval_count: promptTokens };
  }

  @Post('embeddings')
  @Operation({
    summary: "Turn a text into a vector in Ollama's older form",
    answer: z.object({ embedding: z.array(z.number()) }),
  })
  @HttpCode(200)
  async embedOne(
    @Body(new SchemaPipe(embeddingsSchema)) { model, prompt }: z.output<typeof embeddingsSchema>,
    @Call() call: HttpCall,
  ) {
    const { vectors } = await this.#embed([prompt], model, call, { truncate: true });
    return { embedding: vectors[0] ?? [] };
  }

  async #embed(
    inputs: string[],
    model: string,
    call: HttpCall,
    options: { dimensions?: number; truncate: boolean },
  ) {
    const reply = await this.embeddings.create({ inputs, model: plainName(model), ...options }, call);
    const vectors = decodeVectors(reply.vectors, reply.dimensions).map((vector) => [...vector]);
    return { vectors, promptTokens: reply.promptTokens };
  }

  async #answer(
    { body, ignored }: ConvertedChat,
    { model, stream }: OllamaChat | OllamaGenerate,
    shape: typeof asMessage,
    { call, reply }: { call: HttpCall; reply: FastifyReply },
  ): Promise<void> {
    const run = await this.chats.start(parseOrThrow(chatCompletionRequestSchema, body), call);
    const objects = answerObjects(run.chunks, { model, identity: run.identity, shape });
    await sendAnswer(reply, objects, stream !== false, () => {
      setIgnored(reply, [...ignored, ...run.ignored]);
      setStepHeaders(reply, run.degraded, run.receipt?.());
    });
  }

  /** The prompt as it is, or with a gap before the suffix. */
  async #complete(request: OllamaGenerate, call: HttpCall, reply: FastifyReply): Promise<void> {
    const { model, prompt, suffix, stream } = request;
    if (request.images?.length) throw unsupportedField('images', 'are not read with raw or suffix');
    if (request.format) throw unsupportedField('format', 'is not served with raw or suffix');
    const { id } = await this.languageModels.find(plainName(model), call);
    const { body: sampling, ignored } = samplingOf(request.options);
    const payload = parseOrThrow(complete.request, {
      ...sampling,
      prompt: prompt ?? '',
      ...(suffix && { suffix }),
    });
    const chunks = this.client.stream(complete, payload, { ...call, model: id });
    const objects = answerObjects(chunks, { model, identity: {}, shape: asResponse });
    await sendAnswer(reply, objects, stream !== false, () => setIgnored(reply, ignored));
  }
}

/** Sends an answer as lines of JSON, or as one object. */
async function sendAnswer(
  reply: FastifyReply,
  objects: AsyncIterable<object>,
  streams: boolean,
  setHeaders: () => void,
): Promise<void> {
  if (!streams) {
    const answer = await collectAnswer(objects);
    setHeaders();
    return void (await reply.status(200).send(answer));
  }
  await sendEventStream(reply, linesOf(objects), ({ message }) => `${JSON.stringify({ error: message })}\n`, {
    contentType: 'application/x-ndjson',
    beforeHead: setHeaders,
  });
}

async function* linesOf(objects: AsyncIterable<object>): AsyncGenerator<string, void, void> {
  for await (const object of objects) yield `${JSON.stringify(object)}\n`;
}

/** A request without a prompt loads a model; here all are loaded. */
async function sendLoaded(reply: FastifyReply, model: string, piece: object): Promise<void> {
  const answer = { model, created_at: new Date().toISOString(), ...piece, done: true, done_reason: 'load' };
  await reply.status(200).send(answer);
}
