import {
  failedDocumentSchema,
  ingestedDocumentSchema,
  ingestJobSchema,
  ingestProgressSchema,
  MegaNestError,
  type IngestJob,
  type IngestProgress,
} from '#contracts';
import { ApiOperation, Call, errorEnvelope, sendEventStream, setIgnored, type HttpCall } from '#service-kit';
import { Controller, Delete, Get, HttpCode, Inject, Param, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { Dataprep } from './dataprep.js';
import { fieldsSchema, IngestReceiver, type ReceivedIngest } from './ingest-request.js';
import { ingestPaths } from './urlencoded-form.js';
import { waitForJob, waitOf, watchJob } from './respond-async.js';

/** The reference's answer to a finished ingest, with the outcome of each document. */
const ingestAnswerSchema = z.object({
  status: z.literal(200),
  message: z.string(),
  documents: z.array(ingestedDocumentSchema),
  failed: z.array(failedDocumentSchema).optional(),
});
export type IngestAnswer = z.output<typeof ingestAnswerSchema>;

/** Progress for callers that wait for the end only. Each file has six events, and each event is a NATS message. */
const signsOfLife = { progressEveryMs: 1_000 };
/** Time before the deadline of a request that is left for an answer with a job. */
const answerMs = 2_000;

@Controller()
export class IngestController {
  constructor(
    @Inject(IngestReceiver) private readonly receiver: IngestReceiver,
    @Inject(Dataprep) private readonly dataprep: Dataprep,
  ) {}

  /**
   * Answers when all documents are stored. With `async` it answers at once with 202 and a job, with the header
   * `Prefer: respond-async` only if the work takes longer than `wait` seconds. With `Accept: text/event-stream` it streams
   * progress, with `Accept: text/plain` as lines for a terminal.
   */
  @Post(ingestPaths)
  @ApiOperation({
    summary: 'Read, split, embed and store documents',
    body: fieldsSchema.extend({ files: z.array(z.file()).optional() }),
    consumes: ['multipart/form-data', 'application/json', 'application/x-www-form-urlencoded'],
    answer: ingestAnswerSchema,
    events: ingestProgressSchema,
    also: { 202: ingestJobSchema },
  })
  async ingest(
    @Req() http: FastifyRequest,
    @Res() reply: FastifyReply,
    @Call() call: HttpCall,
  ): Promise<void> {
    const { request, async, ignored, discard } = await this.receiver.receive(http);
    setIgnored(reply, ignored);
    const waitMs = async ? 0 : waitOf(http.headers.prefer);
    if (waitMs !== undefined) return this.#inBackground({ request, discard }, reply, { waitMs, call });
    try {
      const { accept = '' } = http.headers;
      const showsProgress = accept.includes('text/plain') || accept.includes('text/event-stream');
      const progress = this.dataprep.ingest({ ...request, ...(!showsProgress && signsOfLife) }, call);
      if (accept.includes('text/plain')) {
        await sendEventStream(reply, progressLines(progress), errorLine, {
          contentType: 'text/plain; charset=utf-8',
        });
      } else if (accept.includes('text/event-stream')) {
        await sendEventStream(reply, framesOf(progress), (error) => frame('error', errorEnvelope(error)));
      } else await reply.status(200).send(await answerOf(progress));
    } finally {
      await discard();
    }
  }

  /** Answers with the job, or with its result if the job ends in time. */
  async #inBackground(
    { request, discard }: Pick<ReceivedIngest, 'request' | 'discard'>,
    reply: FastifyReply,
    { waitMs, call }: { waitMs: number; call: HttpCall },
  ): Promise<void> {
    const { jobs } = this.dataprep;
    const started = await jobs.start(request).catch(async (error: unknown) => {
      await discard();
      throw error;
    });
    const limited = Math.max(0, Math.min(waitMs, call.deadline - Date.now() - answerMs));
    const job = await waitForJob(jobs, started, { waitMs: limited, signal: call.signal });
    if (waitMs > 0 && job.error) throw MegaNestError.fromBody(job.error);
    if (waitMs > 0 && job.progress?.documents)
      return void (await reply.status(200).send(toAnswer(job.progress)));
    if (waitMs > 0) reply.header('preference-applied', 'respond-async');
    await reply.status(202).header('location', `/v1/dataprep/jobs/${job.id}`).send(job);
  }

  /**
   * Answers with the job. With `Accept: text/event-stream` it streams an event `job` now and after each change, until the
   * job has ended or the time for the request is over.
   */
  @Get('v1/dataprep/jobs/:id')
  @ApiOperation({ summary: 'Get the progress of a job', answer: ingestJobSchema, events: ingestJobSchema })
  async job(
    @Param('id') id: string,
    @Req() { headers: { accept = '' } }: FastifyRequest,
    @Res() reply: FastifyReply,
    @Call() { deadline, signal }: HttpCall,
  ): Promise<void> {
    const { jobs } = this.dataprep;
    const job = await jobs.find(id);
    if (!accept.includes('text/event-stream')) return void (await reply.send(job));
    const waitMs = Math.max(0, deadline - Date.now() - answerMs);
    const states = watchJob(jobs, job, { waitMs, signal });
    await sendEventStream(reply, jobFrames(states), (error) => frame('error', errorEnvelope(error)));
  }

  /** Cancels the job. Documents that it has stored so far stay. */
  @Delete('v1/dataprep/jobs/:id')
  @ApiOperation({ summary: 'Cancel a job', answer: ingestJobSchema })
  cancel(@Param('id') id: string) {
    return this.dataprep.jobs.cancel(id);
  }

  /** Pauses the job. Stored documents stay; an unfinished document starts again when the job is resumed. */
  @Post('v1/dataprep/jobs/:id/pause')
  @HttpCode(200)
  @ApiOperation({ summary: 'Pause a job', answer: ingestJobSchema })
  pause(@Param('id') id: string) {
    return this.dataprep.jobs.pause(id);
  }

  @Post('v1/dataprep/jobs/:id/resume')
  @HttpCode(200)
  @ApiOperation({ summary: 'Resume a paused job', answer: ingestJobSchema })
  resume(@Param('id') id: string) {
    return this.dataprep.jobs.resume(id);
  }
}

/** Reads the progress to its end. Leaving the loop early would cancel the ingest. */
async function answerOf(progress: AsyncIterable<IngestProgress>): Promise<IngestAnswer> {
  let last: IngestProgress | undefined;
  for await (const event of progress) last = event;
  if (last?.documents) return toAnswer(last);
  const detail = 'the ingest ended without a result';
  throw new MegaNestError('internal_error', { service: 'dataprep', detail });
}

/** Yields `progress` events, then one `done` event with the answer. */
async function* framesOf(progress: AsyncIterable<IngestProgress>): AsyncGenerator<string> {
  for await (const event of progress) {
    yield event.documents ? frame('done', toAnswer(event)) : frame('progress', event);
  }
}

async function* jobFrames(states: AsyncIterable<IngestJob>): AsyncGenerator<string> {
  for await (const job of states) yield frame('job', job);
}

function errorLine({ message }: MegaNestError): string {
  return `${'error'.padEnd(11)}${message}\n`;
}

function toAnswer({ documents = [], failed }: IngestProgress): IngestAnswer {
  if (!failed) return { status: 200, message: 'Data preparation succeeded', documents };
  const total = documents.length + failed.length;
  const message = `Data preparation succeeded for ${documents.length} of ${total} documents`;
  return { status: 200, message, documents, failed };
}

function frame(event: string, data: unknown): string {
  return `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}

const width = 20;

/**
 * Yields progress as lines for a terminal, e.g. of curl: a bar while chunks are embedded, the outcome of each document.
 */
export async function* progressLines(progress: AsyncIterable<IngestProgress>): AsyncGenerator<string> {
  let last = '';
  for await (const event of progress) {
    const line = event.documents ? summaryOf(event) : lineOf(event);
    // Several events of a stage may give the same line.
    if (line !== last) yield line;
    last = line;
  }
}

function lineOf({ stage, filename, completed, total }: IngestProgress): string {
  const name = stage.padEnd(11);
  if (stage === 'reading') return `${name}${filename} (${completed + 1} of ${total})\n`;
  if (stage !== 'embedding') return `${name}${filename}\n`;
  const share = total === 0 ? 1 : completed / total;
  const bar = '#'.repeat(Math.floor(share * width)).padEnd(width, '.');
  return `${name}[${bar}] ${Math.floor(share * 100)} % of ${filename}\n`;
}

function summaryOf({ documents = [], failed = [], total }: IngestProgress): string {
  const lines = [
    ...documents.map(({ outcome, filename, chunks }) => `${outcome.padEnd(11)}${filename}, ${chunks} chunks`),
    ...failed.map(({ filename, error }) => `${'failed'.padEnd(11)}${filename}: ${error.message}`),
    `${'done'.padEnd(11)}${documents.length} of ${total} documents`,
  ];
  return `${lines.join('\n')}\n`;
}
