import type { DocumentChunks, IngestJob, IngestProgress, StoredDocument } from '#contracts';
import { Dataprep, type IngestRequest, type ListedDocuments } from '#dataprep-api';
import { Inject, Injectable } from '@nestjs/common';
import { DocumentCatalogue } from './ingest/document-catalogue.js';
import { IngestJobs } from './ingest/ingest-jobs.js';
import { IngestService, type IngestCall } from './ingest/ingest.service.js';

/** Data preparation in this process; both its HTTP and its NATS side go through it. */
@Injectable()
export class LocalDataprep extends Dataprep {
  constructor(
    @Inject(IngestService) private readonly ingests: IngestService,
    @Inject(IngestJobs) private readonly jobs: IngestJobs,
    @Inject(DocumentCatalogue) private readonly catalogue: DocumentCatalogue,
  ) {
    super();
  }

  override ingest(request: IngestRequest, call: IngestCall): AsyncIterable<IngestProgress> {
    return this.ingests.ingest(request, call);
  }

  override startJob(request: IngestRequest): Promise<IngestJob> {
    return this.jobs.start(request);
  }

  override findJob(id: string): Promise<IngestJob> {
    return this.jobs.find(id);
  }

  override cancelJob(id: string): Promise<IngestJob> {
    return this.jobs.cancel(id);
  }

  override pauseJob(id: string): Promise<IngestJob> {
    return this.jobs.pause(id);
  }

  override resumeJob(id: string): Promise<IngestJob> {
    return this.jobs.resume(id);
  }

  override list(which: ListedDocuments): Promise<StoredDocument[]> {
    return this.catalogue.list(which);
  }

  override readChunks(id: string, from: number, limit: number): Promise<DocumentChunks> {
    return this.catalogue.readChunks(id, from, limit);
  }

  override delete(filePath: string, collection?: string): Promise<number> {
    return this.catalogue.delete(filePath, collection);
  }

  override async collections(): Promise<string[]> {
    return (await this.catalogue.collections()).map(({ name }) => name);
  }
}
