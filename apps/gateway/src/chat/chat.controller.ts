import {
  chatCompletionChunkSchema,
  chatCompletionRequestSchema,
  chatCompletionSchema,
  type ChatCompletionRequest,
} from '#api/openai-api';
import { Synthesis } from '#api/audio-api';
import { ApiOperation, Call, Owner, SchemaPipe, type HttpCall } from '#platform/service-kit';
import { Body, Controller, Headers, Inject, Post, Res, UseGuards } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { MessagePartsGuard } from './message-parts.guard.js';
import { StoredCompletionsService, takeKeepWish } from './stored-completions.controller.js';
import { speakAlong, speakWhole, takeSpokenWish } from './speak-along.js';
import { sendChatCompletion, sendChatStream } from './chat-reply.js';
import { ChatService } from './chat.service.js';
import { IdempotentChats, type HeldKey } from './idempotent-chats.js';

/** Chat completions: speaks, stores and replays answers where the request asks for it. */
@Controller()
export class ChatController {
  constructor(
    @Inject(ChatService) private readonly chat: ChatService,
    @Inject(StoredCompletionsService) private readonly completions: StoredCompletionsService,
    @Inject(Synthesis) private readonly synthesis: Synthesis,
    @Inject(IdempotentChats) private readonly idempotent: IdempotentChats,
  ) {}

  @Post(['v1/chat/completions', 'chat/completions'])
  @UseGuards(MessagePartsGuard)
  @ApiOperation({
    summary: 'Chat with a mega service or a model',
    answer: chatCompletionSchema,
    events: chatCompletionChunkSchema,
  })
  async complete(
    @Body(new SchemaPipe(chatCompletionRequestSchema)) body: ChatCompletionRequest,
    @Owner() owner: string,
    @Call() call: HttpCall,
    @Res() reply: FastifyReply,
    @Headers('idempotency-key') key?: string,
  ): Promise<void> {
    const held = key === undefined ? undefined : await this.idempotent.begin(owner, key, body, reply);
    if (key !== undefined && !held) return;
    try {
      await this.#answer(body, owner, held ? this.idempotent.unhurried(call) : call, { reply, held });
    } catch (error) {
      await held?.release();
      throw error;
    }
  }

  async #answer(
    body: ChatCompletionRequest,
    owner: string,
    call: HttpCall,
    { reply, held }: { reply: FastifyReply; held: HeldKey | undefined },
  ): Promise<void> {
    const { request: asked, wish } = takeSpokenWish(body);
    const { request, wish: keepWish } = takeKeepWish(asked);
    const started = await this.chat.start({ ...request, stream: request.stream === true }, call);
    const run = keepWish ? this.completions.keep(owner, request, keepWish, started) : started;
    const { chunks } = run;
    if (request.stream) {
      const spoken = wish ? speakAlong(chunks, wish, this.synthesis, call) : chunks;
      return sendChatStream(reply, { ...run, chunks: spoken }, request.includeUsage, held);
    }
    const spoken = wish ? speakWhole(chunks, wish, this.synthesis, call) : chunks;
    return sendChatCompletion(reply, { ...run, chunks: spoken }, held);
  }
}
