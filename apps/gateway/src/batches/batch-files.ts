import { BatchesRepository, FilesRepository, type RequestState, type StoredBatch } from '#platform/storage';
import { Inject, Injectable } from '@nestjs/common';
import { gatewayEnvironment, type GatewayEnvironment } from '../config/gateway.environment.js';
import { boundsOf, newFileId } from '../files/file-objects.js';
import { toOutputLine } from './batch-objects.js';

/** Seconds for which output files are kept, where the batch does not say it. */
const keptSeconds = 30 * 86_400;

/** Reads the input files of batches, and writes their output and error files. */
@Injectable()
export class BatchFiles {
  constructor(
    @Inject(BatchesRepository) private readonly batches: BatchesRepository,
    @Inject(FilesRepository) private readonly files: FilesRepository,
    @Inject(gatewayEnvironment) private readonly environment: GatewayEnvironment,
  ) {}

  /** The content of the input file; undefined if it is not there any more. */
  async open({ owner, inputFileId }: StoredBatch): Promise<AsyncIterable<Uint8Array> | undefined> {
    const file = inputFileId === null ? undefined : await this.files.find(owner, inputFileId);
    return file && this.files.content(file);
  }

  /** Deletes a file that another process has written, too. */
  async delete({ owner }: StoredBatch, id: string): Promise<void> {
    await this.files.delete(owner, id);
  }

  /** The id of the written file; null without a line. */
  async write(
    { id: batchId, owner, outputSeconds }: StoredBatch,
    kind: 'output' | 'error',
    states: readonly RequestState[],
  ): Promise<string | null> {
    const bounds = boundsOf(this.environment);
    const [id, answers] = [newFileId(), this.batches.answers(batchId, states)];
    const first = await answers.next();
    if (first.done) return null;
    const begun = first.value;
    async function* lines(): AsyncGenerator<Uint8Array> {
      yield Buffer.from(toOutputLine(batchId, begun));
      for await (const answer of answers) yield Buffer.from(toOutputLine(batchId, answer));
    }
    const bytes = await this.files.write(owner, { id, bounds }, lines());
    const facts = {
      filename: `${batchId}_${kind}.jsonl`,
      purpose: 'batch_output',
      mimeType: 'application/jsonl',
      expiresAfterSeconds: outputSeconds ?? keptSeconds,
    };
    await this.files.publish(owner, id, facts, { bytes, bounds });
    return id;
  }
}
