import { randomUUID } from 'node:crypto';
import {
  callableTools,
  chatCompletionChunkSchema,
  chatCompletionRequestSchema,
  chatCompletionSchema,
  chatToolParam,
  ignoredFields,
  modelList,
  modelListSchema,
  modelObject,
  namingToolParams,
  unusedLabels,
  type CompletionIdentity,
} from '#openai-api';
import { ApiOperation, Call, SchemaPipe, type HttpCall, withinDeadline, setIgnored } from '#service-kit';
import { Body, Controller, Get, Inject, Post, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { sendChatCompletion, sendChatStream } from './chat-reply.js';
import { llmRequestSchema, type LlmRequest } from './llm.requests.js';
import { LlmService } from './llm.service.js';

@Controller()
export class LlmController {
  constructor(@Inject(LlmService) private readonly llm: LlmService) {}

  @Post(['v1/chat/completions', 'chat/completions'])
  @ApiOperation({
    summary: 'Chat with the model, with or without documents',
    body: z.intersection(chatCompletionRequestSchema, llmRequestSchema),
    answer: chatCompletionSchema,
    events: chatCompletionChunkSchema,
  })
  async complete(
    @Body(new SchemaPipe(llmRequestSchema)) { chat, documents, chatTemplate }: LlmRequest,
    @Call() call: HttpCall,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { model, extra, stream, includeUsage, legacyFunctions } = chat;
    const { request: asked, ignored: unused } = callableTools(chat, this.llm.model);
    const ignored = [...ignoredFields(extra), ...unused];
    // The gateway knows what the template makes of it; here the template's own variables are at hand.
    if (chat.reasoningEffort) ignored.push(chat.reasoningEffort.field);
    ignored.push(...unusedLabels(chat.labels, this.llm.model));
    // OPEA's clients name the model of their own engine: one model is here, which answers.
    if (model != null && model !== this.llm.model.id) ignored.push('model');
    const request = {
      ...chat.parameters,
      messages: chat.messages,
      documents,
      chat_template: chatTemplate,
      tools: asked.tools,
      tool_choice: asked.toolChoice,
      parallel_tool_calls: asked.parallelToolCalls,
      chat_template_kwargs: chat.chatTemplateKwargs,
      labels: chat.labels,
      whole: !stream,
    };
    ignored.push(...this.llm.unusedParameters(request));
    setIgnored(reply, ignored);
    const written = withinDeadline(call, (signal) => this.llm.generate(request, signal));
    const chunks = namingToolParams(written, chatToolParam);
    const identity = { ...this.#identity(), documents: () => documents ?? [], legacyFunctions };
    await (stream
      ? sendChatStream(reply, chunks, identity, includeUsage)
      : sendChatCompletion(reply, chunks, identity));
  }

  @Get('v1/models')
  @ApiOperation({ summary: 'The model', answer: modelListSchema })
  models() {
    return modelList([modelObject(this.llm.model)]);
  }

  #identity(): CompletionIdentity {
    const { id: model, revision } = this.llm.model;
    const id = `chatcmpl-${randomUUID().replaceAll('-', '')}`;
    return { id, created: Math.floor(Date.now() / 1000), model, revision };
  }
}
