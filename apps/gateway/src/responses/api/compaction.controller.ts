import { ImageBudget } from '#platform/contracts';
import {
  compactRequestSchema,
  ignoredCompactFields,
  newId,
  responseUsage,
  type CompactRequest,
} from '#api/responses';
import { ApiOperation, Call, Owner, SchemaPipe, setIgnored, type HttpCall } from '#platform/service-kit';
import { Body, Controller, Inject, Post, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { ChatService } from '../../chat/chat.service.js';
import { ModelDirectory } from '../../chat/model-directory.js';
import { ContextLoader, ContextReader, missingInput } from '../context/context-reader.js';
import { compactionAnswer } from './response-answers.js';
import { Compactor } from '../compaction/compactor.js';

/** `POST /v1/responses/compact`: returns a shorter conversation that the client can continue. */
@Controller(['v1/responses', 'responses'])
export class CompactionController {
  constructor(
    @Inject(ContextLoader) private readonly context: ContextLoader,
    @Inject(ContextReader) private readonly reader: ContextReader,
    @Inject(Compactor) private readonly compactor: Compactor,
    @Inject(ModelDirectory) private readonly directory: ModelDirectory,
    @Inject(ChatService) private readonly chat: ChatService,
  ) {}

  @Post('compact')
  @ApiOperation({ summary: 'Shorten a conversation', answer: compactionAnswer })
  async compact(
    @Body(new SchemaPipe(compactRequestSchema)) request: CompactRequest,
    @Owner() owner: string,
    @Call() asked: HttpCall,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { model, instructions } = request;
    const opened = await this.directory.open(model, asked);
    this.chat.prepare(opened, { messages: [], parameters: {}, extra: {}, includeUsage: false });
    const call = { ...asked, model: opened.languageModel };
    const [before, given] = await Promise.all([
      this.context.history(owner, {
        previous_response_id: request.previous_response_id ?? null,
        conversation: null,
        store: false,
      }),
      this.context.resolve(owner, request.input ?? []),
    ]);
    const options = { owner, images: 'describe' as const, budget: new ImageBudget(), call };
    const items = [
      ...(await this.reader.read(before, { ...options, path: 'context' })),
      ...(await this.reader.read(given, { ...options, path: 'input' })),
    ];
    if (items.length === 0) throw missingInput();
    const { item, userMessages, usage } = await this.compactor.compact(
      { owner, items, instructions },
      opened,
      call,
    );
    const ignored = ignoredCompactFields(request);
    setIgnored(reply, ignored);
    await reply.status(200).send({
      id: newId('resp'),
      object: 'response.compaction',
      created_at: Math.floor(Date.now() / 1000),
      output: [...userMessages, item],
      usage: responseUsage(usage),
    });
  }
}
