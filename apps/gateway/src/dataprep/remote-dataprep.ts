import {
  cancelIngestJob,
  deleteDocuments,
  findIngestJob,
  ingest,
  listCollections,
  listDocuments,
  startIngestJob,
  type IngestJob,
  type IngestProgress,
  type StoredDocument,
} from '#contracts';
import { Dataprep, type IngestRequest } from '#dataprep-api';
import { RpcClient, type CallOptions } from '#messaging';
import { Inject, Injectable } from '@nestjs/common';

/** Data preparation by the dataprep service, over NATS. */
@Injectable()
export class RemoteDataprep extends Dataprep {
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

  override async list(collection?: string): Promise<StoredDocument[]> {
    return (await this.client.request(listDocuments, { collection })).documents;
  }

  override async delete(filePath: string, collection?: string): Promise<number> {
    return (await this.client.request(deleteDocuments, { file_path: filePath, collection })).deleted;
  }

  override async collections(): Promise<string[]> {
    return (await this.client.request(listCollections, {})).collections;
  }
}
