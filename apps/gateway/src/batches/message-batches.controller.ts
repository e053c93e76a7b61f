import { Readable } from 'node:stream';
import { MegaNestError, unsupportedField } from '#platform/contracts';
import { newId } from '#api/responses';
import { ApiOperation, Call, Owner, SchemaPipe, type HttpCall } from '#platform/service-kit';
import {
  BatchesRepository,
  type AnsweredRequest,
  type RequestState,
  type StoredBatch,
} from '#platform/storage';
import { Body, Controller, Delete, Get, HttpCode, Inject, Param, Post, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { BatchRunner } from './batch-runner.js';
import { assertMayBegin, windowSeconds } from './batches.controller.js';
import { keptCaller } from './own-requests.js';
import { maxBatchRequests, refusedField } from './read-batch-file.js';

const createSchema = z.strictObject({
  requests: z
    .array(
      z.strictObject({
        custom_id: z
          .string()
          .regex(/^[\w-]{1,64}$/, 'must be 1 to 64 letters, digits, underscores and dashes'),
        params: z.record(z.string(), z.unknown()).describe('The body of a request to /v1/messages'),
      }),
    )
    .min(1)
    .max(maxBatchRequests),
});
type CreateMessageBatch = z.output<typeof createSchema>;

const listQuerySchema = z.object({
  limit: z.coerce.number().int().min(1).max(1_000).default(20),
  after_id: z.string().optional(),
  before_id: z.string().optional(),
});

/** Anthropic's message batch. */
const messageBatchSchema = z.object({
  id: z.string(),
  type: z.literal('message_batch'),
  processing_status: z.enum(['in_progress', 'canceling', 'ended']),
  request_counts: z.object({
    processing: z.int(),
    succeeded: z.int(),
    errored: z.int(),
    canceled: z.int(),
    expired: z.int(),
  }),
  created_at: z.string(),
  expires_at: z.string(),
  ended_at: z.string().nullable(),
  cancel_initiated_at: z.string().nullable(),
  archived_at: z.string().nullable(),
  results_url: z.string().nullable(),
});
type MessageBatch = z.output<typeof messageBatchSchema>;

const messageBatchListSchema = z.object({
  data: z.array(messageBatchSchema),
  has_more: z.boolean(),
  first_id: z.string().nullable(),
  last_id: z.string().nullable(),
});
const deletedSchema = z.object({ id: z.string(), type: z.literal('message_batch_deleted') });

/** Anthropic's message batches, over the same work as OpenAI's. */
@Controller('v1/messages/batches')
export class MessageBatchesController {
  constructor(
    @Inject(BatchesRepository) private readonly batches: BatchesRepository,
    @Inject(BatchRunner) private readonly runner: BatchRunner,
  ) {}

  @Post()
  @ApiOperation({ summary: 'Create a batch of messages', answer: messageBatchSchema })
  @HttpCode(200)
  async create(
    @Body(new SchemaPipe(createSchema)) { requests }: CreateMessageBatch,
    @Owner() owner: string,
    @Call() call: HttpCall,
  ): Promise<MessageBatch> {
    assertServed(requests);
    await assertMayBegin(this.batches, owner);
    const batch = {
      id: newId('msgbatch'),
      dialect: 'anthropic' as const,
      caller: keptCaller(call),
      endpoint: '/v1/messages',
      inputFileId: null,
      completionWindow: '24h',
      metadata: null,
      outputSeconds: null,
      windowSeconds,
    };
    const lines = requests.map(({ custom_id: customId, params: body }, line) => ({ line, customId, body }));
    const created = await this.batches.create(owner, batch, lines);
    this.runner.wake();
    return toMessageBatch(created, { waiting: requests.length }, call);
  }

  @Get()
  @ApiOperation({ summary: 'List the batches of messages, newest first', answer: messageBatchListSchema })
  async list(
    @Query(new SchemaPipe(listQuerySchema)) query: z.output<typeof listQuerySchema>,
    @Owner() owner: string,
    @Call() call: HttpCall,
  ) {
    const { limit, after_id: after, before_id: before } = query;
    const page = { limit, order: 'desc' as const, after, before };
    const { rows, hasMore } = await this.batches.list(owner, 'anthropic', page);
    const data = await Promise.all(
      rows.map(async (batch) => toMessageBatch(batch, await this.batches.counts(batch.id), call)),
    );
    const [first, last] = [data[0]?.id ?? null, data.at(-1)?.id ?? null];
    return { data, has_more: hasMore, first_id: first, last_id: last };
  }

  @Get(':id')
  @ApiOperation({ summary: 'Show a batch of messages', answer: messageBatchSchema })
  async find(@Param('id') id: string, @Owner() owner: string, @Call() call: HttpCall): Promise<MessageBatch> {
    const batch = await this.#find(owner, id);
    return toMessageBatch(batch, await this.batches.counts(id), call);
  }

  @Post(':id/cancel')
  @ApiOperation({ summary: 'Cancel a batch of messages', answer: messageBatchSchema })
  @HttpCode(200)
  async cancel(
    @Param('id') id: string,
    @Owner() owner: string,
    @Call() call: HttpCall,
  ): Promise<MessageBatch> {
    const batch = (await this.batches.cancel(owner, 'anthropic', id)) ?? unknown(id);
    this.runner.cancelled(id);
    return toMessageBatch(batch, await this.batches.counts(id), call);
  }

  /** Errors: conflict while the batch works. */
  @Delete(':id')
  @ApiOperation({ summary: 'Delete a finished batch of messages', answer: deletedSchema })
  async delete(@Param('id') id: string, @Owner() owner: string) {
    const { finishedAt } = await this.#find(owner, id);
    if (finishedAt === null)
      throw new MegaNestError('conflict', { detail: 'cancel the batch first', param: 'id' });
    await this.batches.delete(owner, 'anthropic', id);
    return { id, type: 'message_batch_deleted' as const };
  }

  /** Errors: not_found until the batch has ended. */
  @Get(':id/results')
  @ApiOperation({ summary: 'The results of a batch of messages, one a line', answer: 'application/x-jsonl' })
  async results(@Param('id') id: string, @Owner() owner: string, @Res() reply: FastifyReply): Promise<void> {
    const { finishedAt } = await this.#find(owner, id);
    if (finishedAt === null)
      throw new MegaNestError('not_found', { what: `The results of ${id}`, param: 'id' });
    const lines = linesOf(this.batches.answers(id));
    await reply
      .status(200)
      .header('content-type', 'application/x-jsonl')
      .send(Readable.from(lines, { objectMode: false }));
  }

  async #find(owner: string, id: string): Promise<StoredBatch> {
    return (await this.batches.find(owner, 'anthropic', id)) ?? unknown(id);
  }
}

/** Errors: invalid_request for an id that is there twice; unsupported_parameter for a stream. */
function assertServed(requests: CreateMessageBatch['requests']): void {
  const seen = new Set<string>();
  for (const [index, { custom_id: id, params }] of requests.entries()) {
    if (seen.has(id)) throw unsupportedField(`requests[${index}].custom_id`, `${id} is there already`);
    seen.add(id);
    const field = refusedField(params);
    if (field !== undefined)
      throw unsupportedField(`requests[${index}].params.${field}`, 'is not possible in a batch');
  }
}

function toMessageBatch(
  { id, status, times, createdAt, expiresAt, finishedAt }: StoredBatch,
  counts: Partial<Record<RequestState, number>>,
  { origin = '' }: Pick<HttpCall, 'origin'>,
): MessageBatch {
  const ended = finishedAt !== null;
  const begunToCancel = times.cancelling;
  return {
    id,
    type: 'message_batch',
    processing_status: ended ? 'ended' : status === 'cancelling' ? 'canceling' : 'in_progress',
    request_counts: {
      processing: counts.waiting ?? 0,
      succeeded: counts.succeeded ?? 0,
      errored: counts.failed ?? 0,
      canceled: counts.cancelled ?? 0,
      expired: counts.expired ?? 0,
    },
    created_at: createdAt.toISOString(),
    expires_at: expiresAt.toISOString(),
    ended_at: finishedAt?.toISOString() ?? null,
    cancel_initiated_at: begunToCancel === undefined ? null : new Date(begunToCancel * 1_000).toISOString(),
    archived_at: null,
    results_url: ended ? `${origin}/v1/messages/batches/${id}/results` : null,
  };
}

async function* linesOf(answers: AsyncIterable<AnsweredRequest>): AsyncGenerator<Uint8Array> {
  for await (const { customId, state, result } of answers)
    yield Buffer.from(`${JSON.stringify({ custom_id: customId, result: resultOf(state, result?.body) })}\n`);
}

function resultOf(state: RequestState, body: object | undefined) {
  if (state === 'succeeded') return { type: 'succeeded', message: body };
  if (state === 'failed') return { type: 'errored', error: body };
  return { type: state === 'expired' ? 'expired' : 'canceled' };
}

function unknown(id: string): never {
  throw new MegaNestError('not_found', { what: `The batch ${id}`, param: 'id' });
}
