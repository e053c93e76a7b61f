import {
  cancelIngestJob,
  deleteDocuments,
  type DocumentChunks,
  findIngestJob,
  ingest,
  type IngestJob,
  type IngestProgress,
  listCollections,
  listDocuments,
  mostListedDocuments,
  readChunks,
  pauseIngestJob,
  resumeIngestJob,
  startIngestJob,
  type StoredDocument,
} from '#contracts';
import {
  CatalogueController,
  Dataprep,
  IngestController,
  IngestReceiver,
  type IngestRequest,
  type ListedDocuments,
} from '#dataprep-api';
import { type CallOptions, RpcClient } from '#messaging';
import { Inject, Injectable, Module } from '@nestjs/common';

/** Data preparation by the dataprep service, over NATS. */
@Injectable()
class RemoteDataprep extends Dataprep {
  constructor(@Inject(RpcClient) private readonly client: RpcClient) {
    super();
  }

  override ingest(request: IngestRequest, call: CallOptions): AsyncIterable<IngestProgress> {
    return this.client.stream(ingest, request, call);
  }

  override startJob(request: IngestRequest): Promise<IngestJob> {
    return this.client.request(startIngestJob, request);
  }

  override findJob(id: string): Promise<IngestJob> {
    return this.client.request(findIngestJob, { id });
  }

  override cancelJob(id: string): Promise<IngestJob> {
    return this.client.request(cancelIngestJob, { id });
  }

  override pauseJob(id: string): Promise<IngestJob> {
    return this.client.request(pauseIngestJob, { id });
  }

  override resumeJob(id: string): Promise<IngestJob> {
    return this.client.request(resumeIngestJob, { id });
  }

  /** A message holds a few hundred documents: a longer list is read in pages. */
  override async list({
    offset = 0,
    limit = Infinity,
    ...which
  }: ListedDocuments): Promise<StoredDocument[]> {
    const listed: StoredDocument[] = [];
    while (listed.length < limit) {
      const wanted = Math.min(limit - listed.length, mostListedDocuments);
      const page = { ...which, offset: offset + listed.length, limit: wanted };
      const { documents } = await this.client.request(listDocuments, page);
      listed.push(...documents);
      if (documents.length < wanted) break;
    }
    return listed;
  }

  override readChunks(id: string, from: number, limit: number): Promise<DocumentChunks> {
    return this.client.request(readChunks, { id, from, limit });
  }

  override async delete(filePath: string, collection?: string): Promise<number> {
    return (await this.client.request(deleteDocuments, { file_path: filePath, collection })).deleted;
  }

  override async collections(): Promise<string[]> {
    return (await this.client.request(listCollections, {})).collections;
  }
}

/** Data preparation, by its service over NATS. */
@Module({
  controllers: [IngestController, CatalogueController],
  providers: [IngestReceiver, { provide: Dataprep, useClass: RemoteDataprep }],
})
export class DataprepModule {}
