import { chatCompletionRequestSchema, type ChatCompletionRequest } from '#openai-api';
import { Call, SchemaPipe, type HttpCall } from '#service-kit';
import { Body, Controller, Inject, Post, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { sendChatCompletion, sendChatStream } from './chat-reply.js';
import { ChatService } from './chat.service.js';

@Controller()
export class ChatController {
  constructor(@Inject(ChatService) private readonly chat: ChatService) {}

  @Post(['v1/chat/completions', 'chat/completions'])
  async complete(
    @Body(new SchemaPipe(chatCompletionRequestSchema)) request: ChatCompletionRequest,
    @Call() call: HttpCall,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const run = await this.chat.start(request, call);
    await (request.stream
      ? sendChatStream(reply, run, request.includeUsage)
      : sendChatCompletion(reply, run));
  }
}
