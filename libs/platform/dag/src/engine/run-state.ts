import { MegaNestError, type ErrorCode } from '#platform/contracts';
import { collectorOf, type MegaServiceDefinition, type NodeDefinition } from '../definition/types.js';
import { AbortScope, Deferred } from './abort-scope.js';
import { ChunkBuffer } from './chunk-buffer.js';
import type { NodeReceipt, NodeState, RunReceipt, SettledState } from './types.js';

/** Descendants to skip: `condition`: descendants that depend only on this node; `short-circuit`: all. */
export type SkipReach = 'condition' | 'short-circuit';

/** Why a node is skipped, fails or is cancelled. */
export interface SkipReason {
  why: string;
  /** Code of the error that is the cause; absent if a condition or a short-circuit is. */
  code?: ErrorCode;
  skipReach?: SkipReach;
}

/** The state of one node in one run. */
export class NodeRecord {
  /** Direct predecessors that have not settled (or, if it reads their stream, not started to stream). */
  readonly waitingFor: Set<string>;
  /** Aborts only this node. */
  readonly scope = new AbortScope();
  state: NodeState = 'waiting';
  /** Undefined: it does not have an output (yet), or was skipped without a bypass. */
  output?: { value: unknown };
  /** The chunks, once it streams. */
  stream?: ChunkBuffer;
  /** A streaming node returned a complete output; its stream has that as the only chunk. */
  streamedWhole = false;
  /** Set if descendants are skipped too. */
  skipReach?: SkipReach;
  attempts = 0;
  from?: 'fallback' | 'hedge';
  nestedReceipt?: () => RunReceipt;
  private reason?: SkipReason;
  private startedAt?: number;
  private startTime = 0;
  private runMs?: number;
  private firstChunkMs?: number;
  private details?: Record<string, unknown>;

  constructor(readonly node: NodeDefinition) {
    this.waitingFor = new Set(node.after);
  }

  get settled(): boolean {
    return this.state !== 'waiting' && this.state !== 'running';
  }

  start(): void {
    this.state = 'running';
    this.startedAt = Date.now();
    this.startTime = performance.now();
  }

  markFirstChunk(): void {
    if (this.startedAt !== undefined) this.firstChunkMs = performance.now() - this.startTime;
  }

  settle(state: SettledState, reason?: SkipReason): void {
    this.state = state;
    this.reason = reason;
    if (this.startedAt !== undefined) this.runMs = performance.now() - this.startTime;
  }

  report(details: Readonly<Record<string, unknown>>): void {
    this.details = { ...this.details, ...details };
  }

  receipt(): NodeReceipt {
    const { reason, startedAt, firstChunkMs, from, attempts, state, node } = this;
    const { queuedMs, ...details } = this.details ?? {};
    const sofar = startedAt === undefined ? 0 : performance.now() - this.startTime;
    return {
      node: node.name,
      service: node.target.service,
      state,
      ...(reason && { why: reason.why }),
      ...(reason?.code && { code: reason.code }),
      ...(startedAt !== undefined && { startedAt }),
      queuedMs: typeof queuedMs === 'number' ? queuedMs : 0,
      runMs: this.runMs ?? sofar,
      ...(firstChunkMs !== undefined && { firstChunkMs }),
      attempts,
      ...(from && { from }),
      ...(Object.keys(details).length > 0 && { details }),
      ...(this.nestedReceipt && { nested: this.nestedReceipt() }),
    };
  }
}

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
