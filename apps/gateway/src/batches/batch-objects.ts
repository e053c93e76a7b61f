import { metadataSchema } from '#api/responses';
import type { AnsweredRequest, StoredBatch } from '#platform/storage';
import { z } from 'zod';
import { secondsOf } from '../files/file-objects.js';

/** Endpoints whose requests a batch takes. */
export const batchEndpoints = [
  '/v1/chat/completions',
  '/v1/responses',
  '/v1/embeddings',
  '/v1/completions',
  '/v1/moderations',
] as const;

export const createBatchSchema = z.strictObject({
  input_file_id: z.string().min(1).max(128).describe('A file with the purpose batch: one request a line'),
  endpoint: z.enum(batchEndpoints),
  completion_window: z.literal('24h').describe('Requests without an answer after that time expire'),
  metadata: metadataSchema.nullish(),
  output_expires_after: z
    .strictObject({ anchor: z.literal('created_at'), seconds: z.int().min(3_600).max(2_592_000) })
    .nullish(),
});
export type CreateBatch = z.output<typeof createBatchSchema>;

const time = z.int().optional();
const problem = z.object({
  code: z.string(),
  message: z.string(),
  line: z.int().nullable(),
  param: z.string().nullable(),
});

/** OpenAI's batch object. Fields that are not known yet are absent, as its specification has it. */
export const batchObjectSchema = z.object({
  id: z.string(),
  object: z.literal('batch'),
  endpoint: z.string(),
  errors: z.object({ object: z.literal('list'), data: z.array(problem) }).optional(),
  input_file_id: z.string(),
  completion_window: z.string(),
  status: z.enum([
    'validating',
    'failed',
    'in_progress',
    'finalizing',
    'completed',
    'expired',
    'cancelling',
    'cancelled',
  ]),
  output_file_id: z.string().optional(),
  error_file_id: z.string().optional(),
  created_at: z.int(),
  in_progress_at: time,
  expires_at: time,
  finalizing_at: time,
  completed_at: time,
  failed_at: time,
  expired_at: time,
  cancelling_at: time,
  cancelled_at: time,
  request_counts: z.object({ total: z.int(), completed: z.int(), failed: z.int() }),
  metadata: metadataSchema.nullable(),
});

/** States whose time the object shows. */
const shownTimes = [
  'in_progress',
  'finalizing',
  'completed',
  'failed',
  'expired',
  'cancelling',
  'cancelled',
] as const;

export function toBatchObject(batch: StoredBatch): z.output<typeof batchObjectSchema> {
  const { id, endpoint, errors, times, total, completed, failed, outputFileId, errorFileId } = batch;
  const reached = shownTimes.flatMap((state) => {
    const at = times[state];
    return at === undefined ? [] : [[`${state}_at`, at] as const];
  });
  return {
    id,
    object: 'batch',
    endpoint,
    ...(errors && { errors: { object: 'list' as const, data: errors } }),
    input_file_id: batch.inputFileId ?? '',
    completion_window: batch.completionWindow,
    status: batch.status,
    ...(outputFileId !== null && { output_file_id: outputFileId }),
    ...(errorFileId !== null && { error_file_id: errorFileId }),
    created_at: secondsOf(batch.createdAt),
    expires_at: secondsOf(batch.expiresAt),
    ...Object.fromEntries(reached),
    request_counts: { total, completed, failed },
    metadata: batch.metadata,
  };
}

/** Messages of requests that never ran to their end. */
const unanswered = {
  expired: { code: 'batch_expired', message: 'The batch expired before this request was answered.' },
  cancelled: {
    code: 'batch_cancelled',
    message: 'The batch was cancelled before this request was answered.',
  },
} as const;

/** A line of an output or error file. */
export function toOutputLine(batchId: string, { line, customId, state, result }: AnsweredRequest): string {
  const error = state === 'expired' || state === 'cancelled' ? unanswered[state] : null;
  const response = result && { status_code: result.status, request_id: result.requestId, body: result.body };
  const id = `batch_req_${batchId.replace(/^batch_/, '').slice(0, 32)}_${line}`;
  return `${JSON.stringify({ id, custom_id: customId, response, error })}\n`;
}
