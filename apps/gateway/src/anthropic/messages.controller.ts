import { countPromptTokens, MegaNestError, parseOrThrow } from '#platform/contracts';
import { RpcClient } from '#platform/messaging';
import { chatCompletionRequestSchema, renamingErrors } from '#api/openai-api';
import { NotSealedHereError, Sealer } from '#api/responses';
import {
  ApiOperation,
  Call,
  Owner,
  SchemaPipe,
  sendEventStream,
  setIgnored,
  type HttpCall,
} from '#platform/service-kit';
import { Body, Controller, HttpCode, Inject, Post, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import type { ChatRun } from '../chat/chat-model.js';
import { setStepHeaders } from '../chat/chat-reply.js';
import { ChatService } from '../chat/chat.service.js';
import { ModelDirectory } from '../chat/model-directory.js';
import { MessageParts } from '../chat/message-parts.js';
import { anthropicError } from './anthropic-errors.js';
import { eventFrame, messageEventSchema, messageSchema, type MessageEvent } from './answer/message-events.js';
import { collectMessage, MessageWriter } from './answer/message-writer.js';
import type { OpenThinking } from './request/chat-messages.js';
import {
  assertServed,
  countTokensSchema,
  messagesRequestSchema,
  type CountTokensRequest,
  type MessagesRequest,
} from './request/messages-request.js';
import { toChatBody } from './request/to-chat-body.js';

/** Fields of the chat completion request that the client has not set. */
const ownFields: ReadonlySet<string> = new Set(['include_stop_str_in_output']);

/** Anthropic's Messages API over the same models and mega services as chat completions. */
@Controller()
export class MessagesController {
  constructor(
    @Inject(ModelDirectory) private readonly directory: ModelDirectory,
    @Inject(ChatService) private readonly chat: ChatService,
    @Inject(MessageParts) private readonly parts: MessageParts,
    @Inject(Sealer) private readonly sealer: Sealer,
    @Inject(RpcClient) private readonly client: RpcClient,
  ) {}

  @Post('v1/messages')
  @ApiOperation({
    summary: "Create a message in the form of Anthropic's API",
    answer: messageSchema,
    events: messageEventSchema,
  })
  @HttpCode(200)
  async create(
    @Body(new SchemaPipe(messagesRequestSchema)) request: MessagesRequest,
    @Owner() owner: string,
    @Call() call: HttpCall,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    void reply.header('request-id', call.requestId);
    const { run, events, ignored } = await this.#start(request, owner, call);
    const setHeaders = () => {
      setIgnored(reply, [...ignored, ...run.ignored.filter((name) => !ownFields.has(name))]);
      setStepHeaders(reply, run.degraded, run.receipt?.());
    };
    if (request.stream !== true) {
      const message = await collectMessage(events);
      setHeaders();
      return void (await reply.status(200).send(message));
    }
    const onError = (error: MegaNestError) => eventFrame(anthropicError(error, call.requestId));
    await sendEventStream(reply, framesOf(events), onError, { beforeHead: setHeaders });
  }

  @Post('v1/messages/count_tokens')
  @ApiOperation({ summary: 'Count the tokens of a message', answer: z.object({ input_tokens: z.int() }) })
  @HttpCode(200)
  async countTokens(
    @Body(new SchemaPipe(countTokensSchema)) request: CountTokensRequest,
    @Owner() owner: string,
    @Call() call: HttpCall,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<{ input_tokens: number }> {
    void reply.header('request-id', call.requestId);
    assertServed(request);
    const { body, named } = toChatBody(request, this.#opener(owner));
    try {
      await this.parts.read(body, owner, call);
      const chat = parseOrThrow(chatCompletionRequestSchema, body);
      const opened = await this.directory.open(chat.model, call);
      const { languageModel: model } = this.chat.prepare(opened, chat);
      const { messages, tools } = chat;
      const counted = { messages, model, ...(tools && { tools }) };
      const { promptTokens } = await this.client.request(countPromptTokens, counted, { ...call, model });
      return { input_tokens: promptTokens };
    } catch (error) {
      throw named(error);
    }
  }

  async #start(
    request: MessagesRequest,
    owner: string,
    call: HttpCall,
  ): Promise<{ run: ChatRun; events: AsyncIterable<MessageEvent>; ignored: string[] }> {
    assertServed(request);
    const { body, sources, ignored, named } = toChatBody(request, this.#opener(owner));
    try {
      await this.parts.read(body, owner, call);
      const run = await this.chat.start(parseOrThrow(chatCompletionRequestSchema, body), call);
      const writer = new MessageWriter({
        identity: run.identity,
        model: request.model,
        stopSequences: request.stop_sequences ?? [],
        sources,
        sign: (thinking) => this.sealer.seal({ kind: 'reasoning', owner }, thinking),
        hidesThinking: (request.thinking as { display?: string } | null | undefined)?.display === 'omitted',
      });
      return { run, events: renamingErrors(writer.write(run.chunks), named), ignored };
    } catch (error) {
      throw named(error);
    }
  }

  /** The signature holds the thinking itself, so that a changed text, and one of another server, is noticed. */
  #opener(owner: string): OpenThinking {
    return ({ signature }) => {
      try {
        return this.sealer.open({ kind: 'reasoning', owner }, signature);
      } catch (error) {
        if (error instanceof NotSealedHereError) return undefined;
        throw error;
      }
    };
  }
}

async function* framesOf(events: AsyncIterable<MessageEvent>): AsyncGenerator<string, void, void> {
  for await (const event of events) yield eventFrame(event);
}
