import { MegaNestError } from '#contracts';
import type { MegaServiceDefinition } from '../definition/types.js';
import { ChunkBuffer } from './chunk-buffer.js';
import { Deferred } from './deferred.js';
import type { NodeRecord } from './node-record.js';
import { collectorOf } from './node-worker.js';

/** What a run gives its caller: a stream and a result, which end alike. */
export class RunAnswer {
  /** The output node's chunks; open until the whole run has ended. */
  readonly chunks = new ChunkBuffer();
  private readonly deferred = new Deferred<unknown>();

  constructor(private readonly definition: MegaServiceDefinition) {}

  get result(): Promise<unknown> {
    return this.deferred.promise;
  }

  /** Ends with the output of the output node; throws invalid_request where that was skipped. */
  giveOutput(record: NodeRecord | undefined): void {
    if (!record?.output) throw noAnswer(this.definition, record?.receipt().why);
    if (!record.stream) this.chunks.push(record.output.value);
    this.end(record.output.value);
  }

  /** Ends with a verdict's answer: a chunk where the output node streams. */
  giveVerdict(answer: unknown): void {
    const node = this.definition.nodes.get(this.definition.output);
    const value = node?.stream ? collectorOf(node.target)([answer]) : answer;
    this.chunks.push(answer);
    this.end(value);
  }

  refuse(error: MegaNestError): void {
    this.chunks.fail(error);
    this.deferred.reject(error);
  }

  private end(value: unknown): void {
    this.chunks.end();
    this.deferred.resolve(value);
  }
}

function noAnswer({ name }: MegaServiceDefinition, why = 'its output node was skipped'): MegaNestError {
  const detail = `The mega service ${name} has no answer to this request (${why}).`;
  return new MegaNestError('invalid_request', { detail });
}
