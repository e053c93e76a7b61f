import { Synthesis } from '#api/audio-api';
import { toJsonSchema, type GenerationChunk, type JsonSchema } from '#platform/contracts';
import { listParameters, type MegaServiceDefinition } from '#platform/dag';
import {
  chatCompletionRequestSchema,
  chatCompletionSchema,
  collectChatCompletion,
  doneFrame,
  type SpokenChunk,
} from '#api/openai-api';
import {
  ApiDocument,
  assertMayAsk,
  Call,
  HiddenRoute,
  noRoute,
  setIgnored,
  type HttpCall,
  type OpenApiPaths,
} from '#platform/service-kit';
import { Controller, Inject, Injectable, Post, Req, Res } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ChatRun } from '../chat/chat-model.js';
import { sendChatCompletion, sendFrames, setStepHeaders } from '../chat/chat-reply.js';
import { speakWhole, type SpokenWish } from '../chat/speak-along.js';
import { documentsAnswerSchema, MegaServiceOutputs } from '../mega-services/mega-service-outputs.js';
import { MegaServiceBody, type ReceivedMegaServiceRequest } from '../mega-services/mega-service-body.js';
import { MegaServiceCatalog } from '../mega-services/mega-service-catalog.js';
import { outputKindOf } from '../mega-services/definition-checks.js';
import { Threads } from './threads.js';

/**
 * Serves mega services at the paths of their YAML files. Answers are streamed by default, in OPEA's frames. Passages
 * are one JSON body.
 */
@Controller()
export class MegaServiceController {
  constructor(
    @Inject(MegaServiceCatalog) private readonly megaServices: MegaServiceCatalog,
    @Inject(MegaServiceBody) private readonly bodies: MegaServiceBody,
    @Inject(Threads) private readonly threads: Threads,
    @Inject(MegaServiceOutputs) private readonly outputs: MegaServiceOutputs,
    @Inject(Synthesis) private readonly synthesis: Synthesis,
  ) {}

  /**
   * A fallback route for all paths without another route, because the YAML files with the paths may change at any time.
   */
  @Post('*')
  @HiddenRoute('the document lists the path of each mega service')
  async run(@Req() http: FastifyRequest, @Call() call: HttpCall, @Res() reply: FastifyReply): Promise<void> {
    const path = http.url.split('?')[0] ?? '';
    const definition = this.megaServices.findByPath(path);
    if (!definition) throw noRoute(http);
    assertMayAsk(call, definition.name);
    const received = await this.bodies.receive(http, definition);
    try {
      await this.#answer(definition, received, call, reply);
    } finally {
      await received.discard();
    }
  }

  async #answer(
    definition: MegaServiceDefinition,
    received: ReceivedMegaServiceRequest,
    call: HttpCall,
    reply: FastifyReply,
  ): Promise<void> {
    if (outputKindOf(definition) === 'documents') {
      const { body, ignored, receipt } = await this.outputs.documents(definition, received, call);
      setIgnored(reply, ignored);
      setStepHeaders(reply, [], receipt);
      await reply.status(200).send(body);
      return;
    }
    const { chat, files, voice } = received;
    const run = await this.threads.run(definition, chat, call, { files });
    const wish: SpokenWish = {
      voice: voice === 'default' ? undefined : voice,
      voiceField: 'voice',
      format: 'wav',
    };
    if (chat.stream === undefined && received.isSpoken) {
      const { choices } = await collectChatCompletion(this.#spoken(run, wish, call), run.identity);
      const [audio = ''] = choices.flatMap(({ message }) => message.audio?.data ?? []);
      setIgnored(reply, run.ignored);
      setStepHeaders(reply, run.degraded, run.receipt?.());
      return void (await reply.status(200).type('application/json').send(JSON.stringify(audio)));
    }
    if (chat.stream === false) {
      const chunks = received.speaks ? this.#spoken(run, wish, call) : refusalsAsText(run.chunks);
      return sendChatCompletion(reply, { ...run, chunks });
    }
    await sendFrames(reply, run, legacyFrames(run.chunks));
  }

  #spoken({ chunks }: ChatRun, wish: SpokenWish, call: HttpCall): AsyncIterable<SpokenChunk> {
    return speakWhole(refusalsAsText(chunks), wish, this.synthesis, call);
  }
}

/** OPEA's clients read the text of an answer only, so that a refusal is sent as text. */
async function* refusalsAsText(chunks: AsyncIterable<GenerationChunk>): AsyncGenerator<GenerationChunk> {
  for await (const { refusal: _refusal, ...chunk } of chunks) yield chunk;
}

async function* legacyFrames(chunks: AsyncIterable<GenerationChunk>): AsyncGenerator<string> {
  for await (const { text, choice } of chunks) {
    if (text && choice === 0) yield `data: ${pythonBytesLiteral(text)}\n\n`;
  }
  yield doneFrame;
}

/** Schema of the files of a form. */
const files = { type: 'array', items: { type: 'string', format: 'binary' } };

/**
 * Adds the current paths of the mega services to the OpenAPI document, and to the server, which lists the allowed
 * methods of a path in its errors.
 */
@Injectable()
export class MegaServicePaths {
  readonly #chat = toJsonSchema(chatCompletionRequestSchema, 'chat', {});
  readonly #answer = toJsonSchema(chatCompletionSchema, 'chat', {});

  readonly #answerGiven = {
    description: 'The answer; streamed unless the body has "stream": false',
    content: {
      'application/json': { schema: this.#answer },
      // The data of an event is a piece of text in Python's form, and not JSON.
      'text/event-stream': { schema: { type: 'object', properties: { data: { type: 'string' } } } },
    },
  };
  readonly #passagesFound = {
    description: 'The passages, best first',
    content: { 'application/json': { schema: toJsonSchema(documentsAnswerSchema, 'documents', {}) } },
  };

  constructor(
    @Inject(ApiDocument) document: ApiDocument,
    @Inject(MegaServiceCatalog) private readonly megaServices: MegaServiceCatalog,
    @Inject(HttpAdapterHost) { httpAdapter }: HttpAdapterHost<FastifyAdapter>,
  ) {
    document.extend(() => this.#paths());
    const postPaths = { has: (path: string) => megaServices.findByPath(path) !== undefined };
    httpAdapter.getInstance().decorate('postPaths', postPaths);
  }

  #paths(): OpenApiPaths {
    // The document already contains the route for vectors.
    const withPath = this.megaServices
      .list()
      .filter((definition) => definition.path !== undefined && outputKindOf(definition) !== 'vectors');
    return Object.fromEntries(
      withPath.map((definition) => [definition.path, { post: this.#operation(definition) }]),
    );
  }

  #operation(definition: MegaServiceDefinition) {
    const properties: Record<string, unknown> = { ...(this.#chat['properties'] as JsonSchema) };
    for (const { name, schema } of listParameters(definition)) properties[name] ??= schema;
    return {
      operationId: `megaservice.${definition.name}`,
      summary: definition.description,
      tags: ['MegaService'],
      requestBody: {
        required: true,
        content: {
          'application/json': { schema: { ...this.#chat, properties } },
          'multipart/form-data': { schema: { ...this.#chat, properties: { ...properties, files } } },
        },
      },
      responses: {
        200: outputKindOf(definition) === 'documents' ? this.#passagesFound : this.#answerGiven,
        '4XX': { $ref: '#/components/responses/Error' },
        '5XX': { $ref: '#/components/responses/Error' },
      },
    };
  }
}

const namedEscapes: Readonly<Record<number, string>> = { 9: '\\t', 10: '\\n', 13: '\\r', 92: '\\\\' };

/**
 * Text as Python prints its UTF-8 bytes, e.g. `b'caf\xc3\xa9'`. OPEA's ChatQnA streams tokens in this form. Like
 * Python, it uses double quotes if the text contains a single quote and no double quote.
 */
export function pythonBytesLiteral(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const body = [...Buffer.from(text, 'utf8')].map((byte) => escapeByte(byte, quote)).join('');
  return `b${quote}${body}${quote}`;
}

function escapeByte(byte: number, quote: string): string {
  const named = namedEscapes[byte];
  if (named) return named;
  if (byte < 32 || byte > 126) return `\\x${byte.toString(16).padStart(2, '0')}`;
  const character = String.fromCharCode(byte);
  return character === quote ? `\\${character}` : character;
}
