import { chatCompletionSchema, listSchemaOf } from '#openai-api';
import { metadataSchema } from '#responses';
import { ApiOperation, Owner, SchemaPipe } from '#service-kit';
import { Body, Controller, Delete, Get, HttpCode, Inject, Param, Post, Query } from '@nestjs/common';
import { z } from 'zod';
import {
  type CompletionListQuery,
  completionListQuerySchema,
  type MessageListQuery,
  messageListQuerySchema,
  StoredCompletionsService,
  type UpdateCompletion,
  updateCompletionSchema,
} from './stored-completions.service.js';

/** A completion as it is kept. */
const storedCompletionAnswer = chatCompletionSchema.extend({ metadata: metadataSchema });

const messageAnswer = z.looseObject({ id: z.string(), role: z.string() });
const deletedCompletionAnswer = z.object({
  id: z.string(),
  object: z.literal('chat.completion.deleted'),
  deleted: z.boolean(),
});

@Controller(['v1/chat/completions', 'chat/completions'])
export class StoredCompletionsController {
  constructor(@Inject(StoredCompletionsService) private readonly completions: StoredCompletionsService) {}

  @Get()
  @ApiOperation({
    summary: 'List the completions that were kept',
    answer: listSchemaOf(storedCompletionAnswer),
  })
  list(@Query(new SchemaPipe(completionListQuerySchema)) query: CompletionListQuery, @Owner() owner: string) {
    return this.completions.list(owner, query);
  }

  @Get(':id')
  @ApiOperation({ summary: 'A completion that was kept', answer: storedCompletionAnswer })
  find(@Param('id') id: string, @Owner() owner: string) {
    return this.completions.find(owner, id);
  }

  @Post(':id')
  @ApiOperation({ summary: 'Replace its metadata', answer: storedCompletionAnswer })
  @HttpCode(200)
  update(
    @Param('id') id: string,
    @Body(new SchemaPipe(updateCompletionSchema)) { metadata }: UpdateCompletion,
    @Owner() owner: string,
  ) {
    return this.completions.update(owner, id, metadata);
  }

  @Delete(':id')
  @ApiOperation({ summary: 'Delete a completion', answer: deletedCompletionAnswer })
  async delete(@Param('id') id: string, @Owner() owner: string) {
    await this.completions.delete(owner, id);
    return { id, object: 'chat.completion.deleted' as const, deleted: true };
  }

  @Get(':id/messages')
  @ApiOperation({ summary: 'The messages that it answered', answer: listSchemaOf(messageAnswer) })
  messages(
    @Param('id') id: string,
    @Query(new SchemaPipe(messageListQuerySchema)) query: MessageListQuery,
    @Owner() owner: string,
  ) {
    return this.completions.messages(owner, id, query);
  }
}
