import {
  cancelIngestJob,
  deleteDocuments,
  findIngestJob,
  ingest,
  listCollections,
  listDocuments,
  maxListedDocuments,
  readChunks,
  readOriginal,
  readReembedding,
  pauseIngestJob,
  resumeIngestJob,
  startIngestJob,
  startReembedding,
  type DocumentChunks,
  type IngestProgress,
  type OriginalFile,
  type StoredDocument,
} from '#platform/contracts';
import {
  CatalogController,
  Dataprep,
  IngestController,
  IngestReceiver,
  type DataprepJobs,
  type DataprepReembedding,
  type IngestRequest,
  type ListedDocuments,
} from '#api/dataprep-api';
import { RpcClient, type CallOptions } from '#platform/messaging';
import { Inject, Injectable, Module } from '@nestjs/common';

/** Data preparation by the dataprep service over NATS. */
@Injectable()
class RemoteDataprep extends Dataprep {
  override readonly jobs: DataprepJobs = {
    start: (request) => this.client.request(startIngestJob, request),
    find: (id) => this.client.request(findIngestJob, { id }),
    cancel: (id) => this.client.request(cancelIngestJob, { id }),
    pause: (id) => this.client.request(pauseIngestJob, { id }),
    resume: (id) => this.client.request(resumeIngestJob, { id }),
  };

  override readonly reembedding: DataprepReembedding = {
    start: () => this.client.request(startReembedding, {}),
    state: () => this.client.request(readReembedding, {}),
  };

  constructor(@Inject(RpcClient) private readonly client: RpcClient) {
    super();
  }

  override ingest(request: IngestRequest, call: CallOptions): AsyncIterable<IngestProgress> {
    return this.client.stream(ingest, request, call);
  }

  /** Reads a long list in pages, because a message holds a few hundred documents only. */
  override async list({
    offset = 0,
    limit = Infinity,
    ...which
  }: ListedDocuments): Promise<StoredDocument[]> {
    const listed: StoredDocument[] = [];
    while (listed.length < limit) {
      const wanted = Math.min(limit - listed.length, maxListedDocuments);
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

  override readOriginal(id: string, start: number): Promise<OriginalFile> {
    return this.client.request(readOriginal, { id, start });
  }

  override async delete(filePath: string, collection?: string): Promise<number> {
    return (await this.client.request(deleteDocuments, { file_path: filePath, collection })).deleted;
  }

  override async collections(): Promise<string[]> {
    return (await this.client.request(listCollections, {})).collections;
  }
}

/** Data preparation by its service over NATS. */
@Module({
  controllers: [IngestController, CatalogController],
  providers: [IngestReceiver, { provide: Dataprep, useClass: RemoteDataprep }],
  exports: [Dataprep],
})
export class DataprepModule {}
