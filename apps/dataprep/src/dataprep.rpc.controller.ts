import {
  cancelIngestJob,
  deleteDocuments,
  findIngestJob,
  healthMethod,
  ingest,
  listCollections,
  listDocuments,
  startIngestJob,
  type IngestJob,
  type IngestProgress,
  type ParsedRequestOf,
  type ReplyOf,
} from '#contracts';
import { ObjectStore, RpcHandler, type RpcContext } from '#messaging';
import { HealthRegistry } from '#service-kit';
import { Controller, Inject } from '@nestjs/common';
import { DocumentCatalogue } from './ingest/document-catalogue.js';
import { IngestJobs } from './ingest/ingest-jobs.js';
import { IngestService } from './ingest/ingest.service.js';

/**
 * A caller that streams `ingest` removes its files from the object store afterwards; those of a job are removed here,
 * since its caller does not wait for the end.
 */
@Controller()
export class DataprepRpcController {
  constructor(
    @Inject(IngestService) private readonly ingests: IngestService,
    @Inject(IngestJobs) private readonly jobs: IngestJobs,
    @Inject(DocumentCatalogue) private readonly catalogue: DocumentCatalogue,
    @Inject(ObjectStore) private readonly objects: ObjectStore,
    @Inject(HealthRegistry) private readonly health: HealthRegistry,
  ) {}

  @RpcHandler(ingest)
  ingest(request: ParsedRequestOf<typeof ingest>, context: RpcContext): AsyncIterable<IngestProgress> {
    const { signal, deadline } = context;
    return this.ingests.ingest(request, { ...context.callOptions, signal, deadline });
  }

  @RpcHandler(startIngestJob)
  startJob(request: ParsedRequestOf<typeof startIngestJob>): Promise<IngestJob> {
    const discard = async () => {
      await Promise.allSettled(request.files.map(({ objectId }) => this.objects.delete(objectId)));
    };
    return this.jobs.start(request, discard);
  }

  @RpcHandler(findIngestJob)
  job({ id }: ParsedRequestOf<typeof findIngestJob>): Promise<IngestJob> {
    return this.jobs.find(id);
  }

  @RpcHandler(cancelIngestJob)
  cancelJob({ id }: ParsedRequestOf<typeof cancelIngestJob>): Promise<IngestJob> {
    return this.jobs.cancel(id);
  }

  @RpcHandler(listDocuments)
  async list({ collection }: ParsedRequestOf<typeof listDocuments>): Promise<ReplyOf<typeof listDocuments>> {
    return { documents: await this.catalogue.list(collection) };
  }

  @RpcHandler(deleteDocuments)
  async delete(request: ParsedRequestOf<typeof deleteDocuments>): Promise<ReplyOf<typeof deleteDocuments>> {
    return { deleted: await this.catalogue.delete(request.file_path, request.collection) };
  }

  @RpcHandler(listCollections)
  async collections(): Promise<ReplyOf<typeof listCollections>> {
    return { collections: await this.catalogue.collections() };
  }

  @RpcHandler(healthMethod('dataprep'))
  report() {
    return this.health.report();
  }
}
