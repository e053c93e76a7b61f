import { parseOrThrow, tokenLimitSchema, type RetrievedDocument } from '#platform/contracts';
import {
  callableTools,
  chatCompletionChunkSchema,
  chatCompletionFrames,
  chatCompletionRequestSchema,
  chatCompletionSchema,
  collectChatCompletion,
  errorFrame,
  ignoredFields,
  modelList,
  modelListSchema,
  modelObject,
  planThinking,
  unusedLabels,
  type ChatCompletionRequest,
  type CompletionIdentity,
} from '#api/openai-api';
import {
  ApiOperation,
  Call,
  SchemaPipe,
  sendEventStream,
  setIgnored,
  withinDeadline,
  type HttpCall,
} from '#platform/service-kit';
import { Body, Controller, Get, Inject, Post, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { ServedModels, type ServedModel } from './engines/served-models.js';

const passage = z.union(
  [
    z.string().transform((text) => ({ text })),
    z.looseObject({
      text: z.string(),
      id: z.string().optional(),
      score: z.number().optional(),
      metadata: z.record(z.string(), z.unknown()).optional(),
    }),
  ],
  'must be a string or an object with a text',
);
const passages = z
  .array(passage)
  .max(1000)
  .transform((documents) => documents.map(toDocument));

const notEmpty = z.string().min(1, 'must not be empty');

/** Field names of OPEA's specification and reference implementation, in addition to OpenAI's. */
const opeaFieldsSchema = z.looseObject({
  query: notEmpty.optional(),
  initial_query: notEmpty.optional(),
  documents: passages.nullish(),
  retrieved_docs: passages.nullish(),
  max_new_tokens: tokenLimitSchema.nullish(),
  streaming: z.boolean().nullish(),
  chat_template: notEmpty.nullish(),
});

interface LlmRequest {
  chat: ChatCompletionRequest;
  documents?: RetrievedDocument[];
  chatTemplate?: string;
}

/**
 * The body of the service's `/v1/chat/completions` in all its dialects: OpenAI's `messages` (or `message`, or a
 * string),
 * `{query, documents, max_new_tokens, streaming}`, `{initial_query, retrieved_docs}`. Errors: 400 with the field's path.
 */
const llmRequestSchema = opeaFieldsSchema.transform((body): LlmRequest => {
  const { documents, retrieved_docs, chat_template, ...rest } = body;
  return {
    chat: parseOrThrow(chatCompletionRequestSchema, inOpenAiNames(rest)),
    documents: documents ?? retrieved_docs ?? undefined,
    chatTemplate: chat_template ?? undefined,
  };
});

type OpeaFields = Omit<z.output<typeof opeaFieldsSchema>, 'documents' | 'retrieved_docs' | 'chat_template'>;

/** OpenAI's field takes precedence over an older name. An unused older name stays, to be reported as ignored. */
function inOpenAiNames(body: OpeaFields): Record<string, unknown> {
  const renamed: Record<string, unknown> = { ...body };
  rename(renamed, 'max_new_tokens', 'max_tokens');
  rename(renamed, 'streaming', 'stream');
  if (renamed['message'] === undefined) {
    rename(renamed, 'query', 'messages');
    rename(renamed, 'initial_query', 'messages');
  }
  return renamed;
}

function rename(body: Record<string, unknown>, from: string, to: string): void {
  if (body[from] === undefined || body[from] === null || (body[to] ?? undefined) !== undefined) return;
  body[to] = body[from];
  delete body[from];
}

function toDocument(given: z.output<typeof passage>, index: number): RetrievedDocument {
  const document: Partial<RetrievedDocument> & { text: string } = given;
  const { text, id = `passage-${index + 1}`, score = 0, metadata = {} } = document;
  return { id, text, score, metadata };
}

@Controller()
export class LlmController {
  constructor(@Inject(ServedModels) private readonly served: ServedModels) {}

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
    const served = this.served.find(undefined, model ?? undefined);
    await served.llm.prepare();
    const { model: info } = served.llm;
    const { request: asked, ignored: unused } = callableTools(chat, info);
    const ignored = [...ignoredFields(extra), ...unused];
    const thinking = planThinking(chat, info);
    ignored.push(...thinking.ignored);
    ignored.push(...unusedLabels(chat.labels, info));
    // OPEA's clients send the model of their own engine. The usual model of this service answers.
    if (model != null && !this.served.ids.includes(model)) ignored.push('model');
    const request = {
      ...chat.parameters,
      messages: chat.messages,
      documents,
      chat_template: chatTemplate,
      tools: asked.tools,
      tool_choice: asked.toolChoice,
      parallel_tool_calls: asked.parallelToolCalls,
      chat_template_kwargs: thinking.kwargs,
      labels: chat.labels,
      whole: !stream,
    };
    ignored.push(...served.llm.unusedParameters(request));
    setIgnored(reply, ignored);
    const chunks = withinDeadline(call, (signal) =>
      this.served.generate(undefined, model ?? undefined, ({ llm }) =>
        llm.generate(request, signal, call.traceparent),
      ),
    );
    const identity = { ...identityOf(served), documents: () => documents ?? [], legacyFunctions };
    if (stream)
      await sendEventStream(reply, chatCompletionFrames(chunks, identity, includeUsage), errorFrame);
    else await reply.status(200).send(await collectChatCompletion(chunks, identity));
  }

  @Get('v1/models')
  @ApiOperation({ summary: 'List the served models', answer: modelListSchema })
  models() {
    return modelList(this.served.describeAll().map((info) => modelObject(info)));
  }
}

function identityOf({ llm }: ServedModel): CompletionIdentity {
  const { id: model, revision } = llm.model;
  const id = `chatcmpl-${randomUUID().replaceAll('-', '')}`;
  return { id, created: Math.floor(Date.now() / 1000), model, revision };
}
