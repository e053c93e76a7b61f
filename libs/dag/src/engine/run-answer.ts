import { MegaNestError } from '#contracts';
import type { MegaServiceDefinition } from '../definition/types.js';
import { ChunkBuffer } from './chunk-buffer.js';
import { Deferred } from './timers.js';
import type { NodeRecord } from './node-record.js';
import { collectorOf } from './node-executor.js';

/** The results of a run for its caller: a stream and a promise, which end alike. */
export class RunAnswer {
  /** The output node's chunks; open until the run has ended. */
  readonly chunks = new ChunkBuffer();
  private readonly deferred = new Deferred<unknown>();

  constructor(private readonly definition: MegaServiceDefinition) {}

  get result(): Promise<unknown> {
    return this.deferred.promise;
  }

  /** Ends with the output of the output node. Errors: invalid_request if that node was skipped. */
  endWithOutput(record: NodeRecord | undefined): void {
    if (!record?.output) throw noAnswer(this.definition, record?.receipt().why);
    if (!record.stream) this.chunks.push(record.output.value);
    this.end(record.output.value);
  }

  /** Ends with the answer of a short-circuit: a chunk if the output node streams. */
  endEarly(answer: unknown): void {
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
  const detail = `The mega service ${name} does not have an answer to this request (${why}).`;
  return new MegaNestError('invalid_request', { detail });
}
