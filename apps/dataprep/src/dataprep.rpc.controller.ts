import {
  cancelIngestJob,
  deleteDocuments,
  extract,
  findIngestJob,
  ingest,
  listCollections,
  listDocuments,
  readChunks,
  readOriginal,
  readReembedding,
  pauseIngestJob,
  resumeIngestJob,
  startIngestJob,
  startReembedding,
  type DocumentChunks,
  type ExtractedText,
  type IngestJob,
  type IngestProgress,
  type OriginalFile,
  type ParsedRequestOf,
  type ReembeddingState,
  type ReplyOf,
} from '#platform/contracts';
import { Dataprep, maxIngestMs } from '#api/dataprep-api';
import { RpcHandler, type RpcContext } from '#platform/messaging';
import { DocumentsRepository } from '#platform/storage';
import { Controller, Inject } from '@nestjs/common';
import { TextExtractor } from './extract/text-extractor.js';
import { thinProgress } from './ingest/thin-progress.js';

/** The caller removes the files of `ingest` from the object store after the call. A job removes its files itself. */
@Controller()
export class DataprepRpcController {
  constructor(
    @Inject(Dataprep) private readonly dataprep: Dataprep,
    @Inject(DocumentsRepository) private readonly documents: DocumentsRepository,
    @Inject(TextExtractor) private readonly extractor: TextExtractor,
  ) {}

  @RpcHandler(ingest)
  ingest(request: ParsedRequestOf<typeof ingest>, context: RpcContext): AsyncIterable<IngestProgress> {
    // The server of the calls ends the signal when the caller's time is up, which each event extends.
    const { signal } = context;
    const deadline = Date.now() + maxIngestMs;
    const { progressEveryMs = 0, ...wanted } = request;
    const progress = this.dataprep.ingest(wanted, { ...context.callOptions, signal, deadline });
    return progressEveryMs === 0 ? progress : thinProgress(progress, progressEveryMs);
  }

  @RpcHandler(extract)
  extract(request: ParsedRequestOf<typeof extract>, context: RpcContext): Promise<ExtractedText> {
    return this.extractor.extract(request, { ...context.callOptions, signal: context.signal });
  }

  @RpcHandler(startIngestJob)
  startJob(request: ParsedRequestOf<typeof startIngestJob>): Promise<IngestJob> {
    return this.dataprep.jobs.start(request);
  }

  @RpcHandler(findIngestJob)
  job({ id }: ParsedRequestOf<typeof findIngestJob>): Promise<IngestJob> {
    return this.dataprep.jobs.find(id);
  }

  @RpcHandler(cancelIngestJob)
  cancelJob({ id }: ParsedRequestOf<typeof cancelIngestJob>): Promise<IngestJob> {
    return this.dataprep.jobs.cancel(id);
  }

  @RpcHandler(pauseIngestJob)
  pauseJob({ id }: ParsedRequestOf<typeof pauseIngestJob>): Promise<IngestJob> {
    return this.dataprep.jobs.pause(id);
  }

  @RpcHandler(resumeIngestJob)
  resumeJob({ id }: ParsedRequestOf<typeof resumeIngestJob>): Promise<IngestJob> {
    return this.dataprep.jobs.resume(id);
  }

  @RpcHandler(startReembedding)
  startReembedding(): Promise<ReembeddingState> {
    return this.dataprep.reembedding.start();
  }

  @RpcHandler(readReembedding)
  reembedding(): Promise<ReembeddingState> {
    return this.dataprep.reembedding.state();
  }

  @RpcHandler(listDocuments)
  async list(request: ParsedRequestOf<typeof listDocuments>): Promise<ReplyOf<typeof listDocuments>> {
    return { documents: await this.dataprep.list(request) };
  }

  @RpcHandler(readChunks)
  chunks({ id, from, limit }: ParsedRequestOf<typeof readChunks>): Promise<DocumentChunks> {
    return this.dataprep.readChunks(id, from, limit);
  }

  @RpcHandler(readOriginal)
  original({ id, start }: ParsedRequestOf<typeof readOriginal>): Promise<OriginalFile> {
    return this.dataprep.readOriginal(id, start);
  }

  @RpcHandler(deleteDocuments)
  async delete(request: ParsedRequestOf<typeof deleteDocuments>): Promise<ReplyOf<typeof deleteDocuments>> {
    return { deleted: await this.dataprep.delete(request.file_path, request.collection) };
  }

  @RpcHandler(listCollections)
  async collections(): Promise<ReplyOf<typeof listCollections>> {
    const collections = await this.documents.collections();
    return {
      collections: collections.map(({ name }) => name),
      documents: collections.map(({ documents }) => documents),
    };
  }
}
