import { MegaNestError, unsupportedField } from '#platform/contracts';
import { listOf, listSchemaOf, pageShape } from '#api/openai-api';
import { newId } from '#api/responses';
import { ApiOperation, Call, Owner, SchemaPipe, type HttpCall } from '#platform/service-kit';
import { BatchesRepository, FilesRepository } from '#platform/storage';
import { Body, Controller, Get, HttpCode, Inject, Param, Post, Query } from '@nestjs/common';
import { z } from 'zod';
import { batchObjectSchema, createBatchSchema, toBatchObject, type CreateBatch } from './batch-objects.js';
import { BatchRunner } from './batch-runner.js';
import { keptCaller } from './own-requests.js';

const listQuerySchema = z.object(pageShape);

/** Batches of one owner that are not finished. */
const maxUnfinished = 50;
export const windowSeconds = 86_400;

/** Refuses one more batch of an owner with many. Errors: overloaded. */
export async function assertMayBegin(batches: BatchesRepository, owner: string): Promise<void> {
  if ((await batches.countUnfinished(owner)) < maxUnfinished) return;
  const detail = `${maxUnfinished} batches of this client that are not finished, which is the limit`;
  throw new MegaNestError('overloaded', { service: 'gateway', detail, retryAfter: 60 });
}

/** OpenAI's batches. Batches of other owners are `not_found`. */
@Controller(['v1/batches', 'batches'])
export class BatchesController {
  constructor(
    @Inject(BatchesRepository) private readonly batches: BatchesRepository,
    @Inject(FilesRepository) private readonly files: FilesRepository,
    @Inject(BatchRunner) private readonly runner: BatchRunner,
  ) {}

  @Post()
  @ApiOperation({ summary: 'Create a batch of the requests in a file', answer: batchObjectSchema })
  @HttpCode(200)
  async create(
    @Body(new SchemaPipe(createBatchSchema)) body: CreateBatch,
    @Owner() owner: string,
    @Call() call: HttpCall,
  ) {
    const { input_file_id: inputFileId, endpoint, completion_window: completionWindow } = body;
    const file = await this.files.find(owner, inputFileId);
    if (!file)
      throw new MegaNestError('not_found', { what: `The file ${inputFileId}`, param: 'input_file_id' });
    if (file.purpose !== 'batch')
      throw unsupportedField('input_file_id', `the file has the purpose ${file.purpose}; it must be batch`);
    await assertMayBegin(this.batches, owner);
    const created = await this.batches.create(owner, {
      id: newId('batch'),
      dialect: 'openai',
      caller: keptCaller(call),
      endpoint,
      inputFileId,
      completionWindow,
      metadata: body.metadata ?? null,
      outputSeconds: body.output_expires_after?.seconds ?? null,
      windowSeconds,
    });
    this.runner.wake();
    return toBatchObject(created);
  }

  @Get()
  @ApiOperation({ summary: 'List the batches, newest first', answer: listSchemaOf(batchObjectSchema) })
  async list(
    @Query(new SchemaPipe(listQuerySchema)) query: z.output<typeof listQuerySchema>,
    @Owner() owner: string,
  ) {
    const { rows, hasMore } = await this.batches.list(owner, 'openai', { ...query, order: 'desc' });
    return listOf(rows.map(toBatchObject), hasMore);
  }

  @Get(':id')
  @ApiOperation({ summary: 'Show a batch', answer: batchObjectSchema })
  async find(@Param('id') id: string, @Owner() owner: string) {
    return toBatchObject((await this.batches.find(owner, 'openai', id)) ?? unknown(id));
  }

  /** A finished batch stays as it is: 409. */
  @Post(':id/cancel')
  @ApiOperation({ summary: 'Cancel a batch; its answers so far are in its files', answer: batchObjectSchema })
  @HttpCode(200)
  async cancel(@Param('id') id: string, @Owner() owner: string) {
    const batch = (await this.batches.cancel(owner, 'openai', id)) ?? unknown(id);
    if (batch.status !== 'cancelling' && batch.status !== 'cancelled')
      throw new MegaNestError('conflict', { detail: `the batch is ${batch.status}`, param: 'batch_id' });
    this.runner.cancelled(id);
    return toBatchObject(batch);
  }
}

function unknown(id: string): never {
  throw new MegaNestError('not_found', { what: `The batch ${id}`, param: 'batch_id' });
}
