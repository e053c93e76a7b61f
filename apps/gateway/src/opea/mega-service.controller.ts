import { Synthesis } from '#audio-api';
import type { GenerationChunk } from '#contracts';
import type { MegaServiceDefinition } from '#dag';
import { collectChatCompletion, doneFrame, errorFrame, type SpokenChunk } from '#openai-api';
import {
  assertMayAsk,
  Call,
  HiddenRoute,
  noRoute,
  sendEventStream,
  type HttpCall,
  setIgnored,
} from '#service-kit';
import { Controller, Inject, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { MegaServiceCatalog } from '../mega-services/mega-service-catalog.js';
import { outputKindOf } from '../mega-services/nodes/output-kind.js';
import { sendChatCompletion, setReceiptHeaders, withHeaders } from '../chat/chat-reply.js';
import type { ChatRun } from '../chat/chat-model.js';
import { ChatService } from '../chat/chat.service.js';
import { speakWhole, type SpokenWish } from '../chat/speak-along.js';
import { MegaServiceBody, type ReceivedMegaServiceRequest } from '../mega-services/mega-service-body.js';
import { MegaServiceOutputs } from '../mega-services/mega-service-outputs.js';
import { pythonBytesLiteral } from './python-bytes.js';

/**
 * Mega services under the path of their YAML file. Answers have OPEA's frames, and streaming is the default; passages
 * come as one body.
 */
@Controller()
export class MegaServiceController {
  constructor(
    @Inject(MegaServiceCatalog) private readonly megaServices: MegaServiceCatalog,
    @Inject(MegaServiceBody) private readonly bodies: MegaServiceBody,
    @Inject(ChatService) private readonly chat: ChatService,
    @Inject(MegaServiceOutputs) private readonly outputs: MegaServiceOutputs,
    @Inject(Synthesis) private readonly synthesis: Synthesis,
  ) {}

  /** The paths come from files that may change at any time, so this is the route for whatever no other one takes. */
  @Post('*')
  @HiddenRoute('each mega service has a path of its own in the document')
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
      setReceiptHeaders(reply, receipt);
      await reply.status(200).send(body);
      return;
    }
    const { chat, files, voice } = received;
    const run = await this.chat.runMegaService(definition, chat, call, { files });
    const wish: SpokenWish = {
      voice: voice === 'default' ? undefined : voice,
      voiceField: 'voice',
      format: 'wav',
    };
    if (chat.stream === undefined && received.isSpoken) {
      const { choices } = await collectChatCompletion(this.#spoken(run, wish, call), run.identity);
      const [audio = ''] = choices.flatMap(({ message }) => message.audio?.data ?? []);
      setIgnored(reply, run.ignored);
      if (run.receipt) setReceiptHeaders(reply, run.receipt());
      return void (await reply.status(200).type('application/json').send(JSON.stringify(audio)));
    }
    if (chat.stream === false) {
      const chunks = received.speaks ? this.#spoken(run, wish, call) : refusalsAsText(run.chunks);
      return sendChatCompletion(reply, { ...run, chunks });
    }
    await sendEventStream(reply, legacyFrames(withHeaders(reply, run)), errorFrame);
  }

  #spoken({ chunks }: ChatRun, wish: SpokenWish, call: HttpCall): AsyncIterable<SpokenChunk> {
    return speakWhole(refusalsAsText(chunks), wish, this.synthesis, call);
  }
}

/** OPEA's clients read the text of an answer, whoever gives it. */
async function* refusalsAsText(chunks: AsyncIterable<GenerationChunk>): AsyncGenerator<GenerationChunk> {
  for await (const { refusal: _refusal, ...chunk } of chunks) yield chunk;
}

async function* legacyFrames(chunks: AsyncIterable<GenerationChunk>): AsyncGenerator<string> {
  for await (const { text, choice } of chunks) {
    if (text && choice === 0) yield `data: ${pythonBytesLiteral(text)}\n\n`;
  }
  yield doneFrame;
}
