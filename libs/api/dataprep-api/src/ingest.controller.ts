import {
  failedDocumentSchema,
  ingestedDocumentSchema,
  ingestJobSchema,
  ingestProgressSchema,
  MegaNestError,
  type IngestJob,
  type IngestProgress,
} from '#platform/contracts';
import {
  ApiOperation,
  Call,
  errorEnvelope,
  sendEventStream,
  setIgnored,
  withinDeadline,
  type HttpCall,
} from '#platform/service-kit';
import { Controller, Delete, Get, HttpCode, Inject, Param, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { Dataprep, type IngestRequest } from './dataprep.js';
import { fieldsSchema, IngestReceiver, type ReceivedIngest } from './ingest-request.js';
import { isJob, progressLines } from './progress-lines.js';
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
/** Time limit of an ingest that makes progress; the stream's own limit ends it before. */
export const maxIngestMs = 24 * 3_600_000;
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
    let job: IngestJob | undefined;
    try {
      const { accept = '' } = http.headers;
      const showsProgress = accept.includes('text/plain') || accept.includes('text/event-stream');
      const wanted = { ...request, ...(!showsProgress && signsOfLife) };
      const progress = this.#whileItGoesOn(wanted, call, (started) => (job = started));
      if (accept.includes('text/plain')) {
        await sendEventStream(reply, progressLines(progress), errorLine, {
          contentType: 'text/plain; charset=utf-8',
        });
      } else if (accept.includes('text/event-stream')) {
        await sendEventStream(reply, framesOf(progress), (error) => frame('error', errorEnvelope(error)));
      } else await sendAnswer(reply, await lastOf(progress));
    } finally {
      // A job removes the files itself.
      if (!job) await discard();
    }
  }

  /**
   * Ingests as long as there is progress. If there is none for the time of a request, a job does the rest; it is the last
   * item then. Documents that are stored already are skipped by the job.
   */
  async *#whileItGoesOn(
    request: IngestRequest,
    call: HttpCall,
    onJob: (job: IngestJob) => void,
  ): AsyncGenerator<IngestProgress | IngestJob, void, void> {
    const deadline = Date.now() + maxIngestMs;
    try {
      yield* withinDeadline(call, (signal) => this.dataprep.ingest(request, { ...call, signal, deadline }));
    } catch (error) {
      if (!(error instanceof MegaNestError) || error.code !== 'deadline_exceeded' || call.signal.aborted)
        throw error;
      const job = await this.dataprep.jobs.start(request);
      onJob(job);
      yield job;
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
async function lastOf(progress: AsyncIterable<IngestProgress | IngestJob>) {
  let last: IngestProgress | IngestJob | undefined;
  for await (last of progress);
  if (last && (isJob(last) || last.documents)) return last;
  const detail = 'the ingest ended without a result';
  throw new MegaNestError('internal_error', { service: 'dataprep', detail });
}

async function sendAnswer(reply: FastifyReply, last: IngestProgress | IngestJob): Promise<void> {
  if (!isJob(last)) return void (await reply.status(200).send(toAnswer(last)));
  await reply.status(202).header('location', `/v1/dataprep/jobs/${last.id}`).send(last);
}

/** Yields `progress` events, then one `done` event with the answer, or one `job` event with the job that goes on. */
async function* framesOf(progress: AsyncIterable<IngestProgress | IngestJob>): AsyncGenerator<string> {
  for await (const event of progress) {
    if (isJob(event)) yield frame('job', event);
    else yield event.documents ? frame('done', toAnswer(event)) : frame('progress', event);
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
