import { MegaNestError, type GenerationChunk } from '#contracts';
import { chatCompletionRequestSchema, doneFrame, errorFrame, type ChatCompletionRequest } from '#openai-api';
import { Call, SchemaPipe, sendEventStream, type HttpCall } from '#service-kit';
import { Body, Controller, Inject, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { MegaServiceCatalog } from '../megaservice/mega-service-catalog.js';
import { sendChatCompletion, withHeaders } from '../openai/chat-reply.js';
import { ChatService } from '../openai/chat.service.js';
import { pythonBytesLiteral } from './python-bytes.js';

/** Mega services under the path of their YAML file; their streams have OPEA's frames, and streaming is the default. */
@Controller()
export class MegaServiceController {
  constructor(
    @Inject(MegaServiceCatalog) private readonly megaServices: MegaServiceCatalog,
    @Inject(ChatService) private readonly chat: ChatService,
  ) {}

  /** The paths come from files that may change at any time, so this is the route for whatever no other one takes. */
  @Post('*')
  async run(
    @Req() httpRequest: FastifyRequest,
    @Body() body: unknown,
    @Call() call: HttpCall,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const path = httpRequest.url.split('?')[0] ?? '';
    const definition = this.megaServices.findByPath(path);
    if (!definition) throw new MegaNestError('not_found', { what: `The path POST ${path}` });
    const request: ChatCompletionRequest = new SchemaPipe(chatCompletionRequestSchema).transform(body);
    const run = this.chat.runMegaService(definition, request, call);
    if (request.stream === false) return sendChatCompletion(reply, run);
    await sendEventStream(reply, legacyFrames(withHeaders(reply, run)), errorFrame);
  }
}

async function* legacyFrames(chunks: AsyncIterable<GenerationChunk>): AsyncGenerator<string> {
  for await (const { text, choice } of chunks) {
    if (text && choice === 0) yield `data: ${pythonBytesLiteral(text)}\n\n`;
  }
  yield doneFrame;
}
