import { ingest, MegaNestError, type FileReference, type IngestedDocument } from '#contracts';
import { uploadLimits, type UploadLimits } from '#dataprep-api';
import { ObjectStore, RpcClient } from '#messaging';
import { FilesRepository, type IndexingTask } from '#storage';
import { Inject, Injectable } from '@nestjs/common';
import { chunkWordsOf } from './chunking-strategy.js';

/** Longest work on one file. */
const timeoutMs = 30 * 60_000;

/** Has dataprep read, cut, embed and store a file, as a document of the collection that its vector store is. */
@Injectable()
export class FileIngest {
  constructor(
    @Inject(FilesRepository) private readonly files: FilesRepository,
    @Inject(ObjectStore) private readonly objects: ObjectStore,
    @Inject(RpcClient) private readonly rpc: RpcClient,
    @Inject(uploadLimits) private readonly limits: UploadLimits,
  ) {}

  /** Errors: dataprep's own; payload_too_large. */
  async run(task: IndexingTask, signal: AbortSignal): Promise<IngestedDocument> {
    const { maxFileBytes } = this.limits;
    if (task.bytes > maxFileBytes) {
      const what = `The file ${task.filename}`;
      throw new MegaNestError('payload_too_large', {
        what,
        limit: `${maxFileBytes} bytes for an indexed file`,
      });
    }
    const { mimeType } = task;
    const content = this.files.content({ id: task.fileId, bytes: task.bytes });
    const reference = await this.objects.put(content, { filename: documentName(task), mimeType });
    try {
      return await this.#ingest(task, reference, signal);
    } finally {
      await this.objects.delete(reference.objectId).catch(() => undefined);
    }
  }

  async #ingest(
    task: IndexingTask,
    reference: FileReference,
    signal: AbortSignal,
  ): Promise<IngestedDocument> {
    const request = {
      files: [reference],
      collection: task.vectorStoreId,
      owner: task.owner,
      metadata: task.attributes,
      ...chunkWordsOf(task),
    };
    let documents: IngestedDocument[] | undefined;
    const options = { signal, deadline: Date.now() + timeoutMs };
    for await (const progress of this.rpc.stream(ingest, request, options))
      documents = progress.documents ?? documents;
    const [document] = documents ?? [];
    if (document) return document;
    throw new MegaNestError('bad_upstream', { service: 'dataprep', detail: 'it ended without a document' });
  }
}

/** Two files of a store may have one name; a collection's documents are told apart by theirs. */
function documentName({ fileId, filename }: IndexingTask): string {
  return `${fileId}/${filename}`;
}
