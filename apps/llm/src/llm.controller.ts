import { randomUUID } from 'node:crypto';
import { ignoredFields, modelList, modelObject, type CompletionIdentity } from '#openai-api';
import { Call, SchemaPipe, type HttpCall } from '#service-kit';
import { Body, Controller, Get, Inject, Post, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { sendChatCompletion, sendChatStream } from './chat-reply.js';
import { llmRequestSchema, type LlmRequest } from './llm.requests.js';
import { LlmService } from './llm.service.js';
import { withinDeadline } from './within-deadline.js';

@Controller()
export class LlmController {
  constructor(@Inject(LlmService) private readonly llm: LlmService) {}

  @Post(['v1/chat/completions', 'chat/completions'])
  async complete(
    @Body(new SchemaPipe(llmRequestSchema)) { chat, documents, chatTemplate }: LlmRequest,
    @Call() call: HttpCall,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { messages, model, parameters, extra, stream, includeUsage } = chat;
    const ignored = ignoredFields(extra);
    if (ignored.length > 0) void reply.header('x-meganest-ignored', ignored.join(', '));
    const request = { ...parameters, messages, model, documents, chat_template: chatTemplate };
    const chunks = withinDeadline(call, (signal) => this.llm.generate(request, signal));
    const identity = { ...this.#identity(), documents: () => documents ?? [] };
    await (stream
      ? sendChatStream(reply, chunks, identity, includeUsage)
      : sendChatCompletion(reply, chunks, identity));
  }

  @Get('v1/models')
  models() {
    return modelList([modelObject(this.llm.model)]);
  }

  #identity(): CompletionIdentity {
    const { id: model, revision } = this.llm.model;
    const id = `chatcmpl-${randomUUID().replaceAll('-', '')}`;
    return { id, created: Math.floor(Date.now() / 1000), model, revision };
  }
}
