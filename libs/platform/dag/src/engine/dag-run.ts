import { MegaNestError } from '#platform/contracts';
import { readsStream } from '../definition/rules.js';
import type { MegaServiceDefinition } from '../definition/types.js';
import { resolveParameters, type NodeParameters } from '../definition/parameters.js';
import { planNode, type RunView, ReadyQueue } from './scheduling.js';
import { Deferred, startTimer } from './abort-scope.js';
import { nameNode } from './attempt.js';
import { NodeRecord, RunAnswer, type SkipReason } from './run-state.js';
import { NodeExecutor } from './node-executor.js';
import {
  type RunReceipt,
  type SettledState,
  type NodeContext,
  type RunEvent,
  type RunHandle,
  type RunOptions,
  type ShortCircuit,
  isShortCircuit,
} from './types.js';

/** One run of a mega service: it starts nodes that are ready, and ends the run. */
export class DagRun {
  private readonly records: ReadonlyMap<string, NodeRecord>;
  private readonly answer: RunAnswer;
  private readonly settled = new Deferred<RunReceipt>();
  private readonly startedAt = Date.now();
  private readonly startTime = performance.now();
  private readonly queue: ReadyQueue;
  private parameters: ReadonlyMap<string, NodeParameters> = new Map();
  private state: RunReceipt['state'] = 'running';
  private runMs?: number;
  private executor?: NodeExecutor;
  private shortCircuit?: ShortCircuit;
  private unsettled: number;
  /** Number of nodes whose work has not finished, settled or not. */
  private working = 0;
  private stopTimer = (): void => {};

  constructor(private readonly options: RunOptions) {
    this.answer = new RunAnswer(options.definition);
    const nodes = [...options.definition.nodes.values()];
    this.records = new Map(nodes.map((node) => [node.name, new NodeRecord(node)]));
    this.queue = new ReadyQueue(this.records, (record) => this.begin(record));
    this.unsettled = nodes.length;
  }

  start(): RunHandle {
    const { definition, parameters = {} } = this.options;
    try {
      this.parameters = resolveParameters(definition, parameters);
      this.executor = this.createExecutor();
      this.watchForEnd();
      this.queue.startRoots();
    } catch (error) {
      this.stop(MegaNestError.from(error, definition.name));
    }
    return this.handle();
  }

  /**
   * Returns the output, or the short-circuit that replaced it: a short-circuit of a nested run also ends the outer
   * run.
   */
  async resultOrShortCircuit(): Promise<unknown> {
    const result = await this.answer.result;
    return this.shortCircuit ?? result;
  }

  private handle(): RunHandle {
    return {
      stream: { [Symbol.asyncIterator]: () => this.answer.chunks.read(this.cancel) },
      result: this.answer.result,
      settled: this.settled.promise,
      receipt: () => this.receipt(),
      cancel: this.cancel,
    };
  }

  private receipt(): RunReceipt {
    const { state, startedAt } = this;
    const runMs = this.runMs ?? performance.now() - this.startTime;
    const nodes = [...this.records.values()].map((record) => record.receipt());
    return { megaService: this.options.definition.name, state, startedAt, runMs, nodes };
  }

  private createExecutor(): NodeExecutor {
    const { options, records, parameters, answer } = this;
    return new NodeExecutor({
      options,
      records,
      parameters,
      answer: answer.chunks,
      runNested: (definition, record, context) => this.runNested(definition, record, context),
      onStream: (record) => this.startStream(record),
      emit: (event) => this.emit(event),
    });
  }

  private watchForEnd(): void {
    const { signal, deadline } = this.options;
    if (signal?.aborted) this.followSignal();
    if (this.state !== 'running') return;
    signal?.addEventListener('abort', this.followSignal, { once: true });
    if (deadline === undefined) return;
    this.watchTime(deadline);
  }

  private watchTime(until: number): void {
    const leftMs = until - Date.now();
    if (leftMs <= 0) return this.stop(this.outOfTime());
    this.stopTimer = startTimer(leftMs, () => this.watchTime(this.options.currentDeadline?.() ?? until));
  }

  private runNested(definition: MegaServiceDefinition, record: NodeRecord, context: NodeContext) {
    const { request, run } = this.options;
    const { inputs, parameters, signal, deadline } = context;
    const prefix = `${record.node.name}/`;
    const onEvent = (event: RunEvent): void => this.emit({ ...event, node: prefix + event.node });
    const isOuter = deadline === this.options.deadline;
    const currentDeadline = isOuter ? this.options.currentDeadline : undefined;
    const times = { deadline, currentDeadline };
    const nested = new DagRun({ definition, request, inputs, parameters, run, signal, ...times, onEvent });
    const handle = nested.start();
    record.nestedReceipt = () => nested.receipt();
    return record.node.stream ? handle.stream : nested.resultOrShortCircuit();
  }

  // From ready to running

  private begin(record: NodeRecord): void {
    if (record.settled) return;
    try {
      const plan = planNode(record, this.view());
      if (plan.kind === 'run') void this.work(record, (executor) => executor.run(record));
      else if (plan.kind === 'fail') this.fail(record, plan.error);
      else if (plan.bypass) this.skipOrBypass(record, plan);
      else this.skip(record, plan);
    } catch (error) {
      this.fail(record, error);
    }
  }

  private view(): RunView {
    const { records, options, parameters } = this;
    const { request, deadline } = options;
    const all = [...parameters.values()].map(({ target }) => target);
    const parametersSeenBy = (node: string) =>
      Object.assign({}, ...all.toReversed(), parameters.get(node)?.target) as Record<string, unknown>;
    return { records, request, deadline, parametersSeenBy };
  }

  private startStream(record: NodeRecord): void {
    this.emit({ type: 'stream-started', node: record.node.name });
    this.queue.releaseReaders(record);
    this.queue.drain();
  }

  // From running to settled

  private async work(
    record: NodeRecord,
    task: (executor: NodeExecutor) => Promise<unknown>,
    skipped?: SkipReason,
  ): Promise<void> {
    if (!this.executor) return;
    this.working++;
    if (skipped === undefined) record.start();
    try {
      const value = await task(this.executor);
      if (skipped === undefined) this.complete(record, value);
      else this.skip(record, skipped, { value });
    } catch (error) {
      this.fail(record, error);
    } finally {
      this.working--;
      this.checkIdle();
    }
  }

  private complete(record: NodeRecord, value: unknown): void {
    if (record.settled) return;
    record.output = { value };
    const shortCircuit = isShortCircuit(value) ? value : undefined;
    const answers = shortCircuit !== undefined && 'answer' in shortCircuit;
    if (shortCircuit) record.skipReach = 'short-circuit';
    if (answers) this.shortCircuit = shortCircuit;
    this.settle(record, 'ok');
    if (answers) this.cancelTheRest(record.node.name);
  }

  private fail(record: NodeRecord, thrown: unknown): void {
    if (record.settled) return;
    const { node } = record;
    const known = MegaNestError.from(thrown, node.target.service);
    if (node.optional && !record.stream) {
      this.skipOrBypass(record, { why: known.message, code: known.code });
      return;
    }
    const error = nameNode(known, node, this.options.definition.nodes.values());
    this.mark(record, 'failed', { why: error.message, code: error.code });
    this.breakStream(record, error);
    this.stop(error, `node "${node.name}" failed`);
  }

  private skipOrBypass(record: NodeRecord, reason: SkipReason): void {
    const bypass = this.executor?.bypass(record);
    if (bypass && 'stream' in bypass) {
      const { why, code } = reason;
      void this.work(record, (executor) => executor.forward(record, bypass.stream), { why, code });
    } else this.skip(record, reason, bypass);
  }

  private skip(record: NodeRecord, reason: SkipReason, output?: { value: unknown }): void {
    if (record.settled) return;
    record.output = output;
    if (!output) record.skipReach = reason.skipReach;
    this.settle(record, 'skipped', reason);
  }

  private mark(record: NodeRecord, state: SettledState, reason: SkipReason | undefined): void {
    record.settle(state, reason);
    this.unsettled--;
    this.emit({ type: 'node-settled', node: record.node.name, state, why: reason?.why });
  }

  /** The node ended, and its followers may start. */
  private settle(record: NodeRecord, state: 'ok' | 'skipped', reason?: SkipReason): void {
    this.mark(record, state, reason);
    this.queue.releaseFollowers(record);
    this.stopUnreadStreams(record);
    this.queue.drain();
    if (this.unsettled === 0) this.finish();
  }

  /** Stops a stream after all its readers have settled. */
  private stopUnreadStreams({ node }: NodeRecord): void {
    for (const name of node.after) {
      const source = this.records.get(name);
      if (!source?.stream || source.stream.over || source.settled || !readsStream(node, name)) continue;
      const wanted = source.node.followers.some((follower) => !this.records.get(follower)?.settled);
      if (!wanted) this.cancelNode(source, `"${node.name}" had read enough of its stream`);
    }
  }

  private cancelNode(record: NodeRecord, why: string, cause?: Error): void {
    const reason = new MegaNestError('cancelled', { cause: cause ?? why });
    this.mark(record, 'cancelled', { why });
    record.scope.abort(reason);
    this.breakStream(record, reason);
  }

  /** Ends the stream for readers in the run; the run itself ends the client's stream. */
  private breakStream({ stream }: NodeRecord, error: Error): void {
    if (stream !== this.answer.chunks) stream?.fail(error);
  }

  // The end

  private readonly cancel = (): void => this.stop(new MegaNestError('cancelled'));

  /** If the reason is a MegaNestError (a shutdown, an outer node's timeout), the run ends with it. */
  private readonly followSignal = (): void => {
    const reason: unknown = this.options.signal?.reason;
    this.stop(reason instanceof MegaNestError ? reason : new MegaNestError('cancelled', { cause: reason }));
  };

  private outOfTime(): MegaNestError {
    const running = [...this.records.values()].filter(({ state }) => state === 'running');
    const names = running.map(({ node }) => `"${node.name}"`).join(', ');
    return new MegaNestError('deadline_exceeded', { detail: names && ` while waiting for ${names}` });
  }

  /** After a short-circuit with an answer: skips all descendants of the node and stops all concurrent nodes. */
  private cancelTheRest(origin: string): void {
    for (const record of this.records.values()) {
      if (record.settled) continue;
      const below = record.node.after.some(
        (before) => this.records.get(before)?.skipReach === 'short-circuit',
      );
      if (below) this.skip(record, { why: `short-circuited by "${origin}"`, skipReach: 'short-circuit' });
      else this.cancelNode(record, `"${origin}" answered in its place`);
    }
    this.finish();
  }

  private stop(error: MegaNestError, why = error.message): void {
    if (this.state !== 'running') return;
    this.state = error.code === 'cancelled' ? 'cancelled' : 'failed';
    for (const record of this.records.values()) {
      if (!record.settled) this.cancelNode(record, why, error);
    }
    this.answer.refuse(error);
    this.close();
  }

  private finish(): void {
    if (this.state !== 'running') return;
    const { name, output } = this.options.definition;
    try {
      if (this.shortCircuit) this.answer.endEarly(this.shortCircuit.answer);
      else this.answer.endWithOutput(this.records.get(output));
    } catch (error) {
      this.stop(MegaNestError.from(error, name));
      return;
    }
    this.state = 'ok';
    this.close();
  }

  private close(): void {
    this.runMs = performance.now() - this.startTime;
    this.stopTimer();
    this.options.signal?.removeEventListener('abort', this.followSignal);
    this.checkIdle();
  }

  private checkIdle(): void {
    if (this.state !== 'running' && this.working === 0) this.settled.resolve(this.receipt());
  }

  private emit(event: RunEvent): void {
    try {
      this.options.onEvent?.(event);
    } catch {
      // A listener's error must not affect the run.
    }
  }
}

/**
 * Runs a mega service for one request. Every node starts when its predecessors have finished; branches run
 * concurrently. The first failure of a required node, a cancellation or the deadline stops the run. Never throws:
 * invalid parameters also reject the result (unsupported_parameter, invalid_request).
 *
 * @example
 *   import { createServiceRegistry, parseMegaService, runDag } from '#platform/dag';
 *   import assert from 'node:assert/strict';
 *   import { z } from 'zod';
 *
 *   const text = { output: 'text', parameters: z.object({}) };
 *   const registry = createServiceRegistry([
 *     { ...text, service: 'read', inputs: {} },
 *     { ...text, service: 'shout', inputs: { words: { kind: 'text' } } },
 *   ]);
 *   const yaml = JSON.stringify({
 *     name: 'loud',
 *     description: 'Reads a text and shouts it.',
 *     nodes: { read: { service: 'read' }, shout: { service: 'shout', after: ['read'] } },
 *   });
 *   const definition = parseMegaService(yaml, 'loud.yaml', { registry });
 *   const { result, settled } = runDag({
 *     definition,
 *     request: {},
 *     run: async ({ node, inputs }) => (node === 'read' ? 'hello' : String(inputs['words']).toUpperCase()),
 *   });
 *   assert.equal(await result, 'HELLO');
 *   assert.deepEqual((await settled).nodes.map(({ state }) => state), ['ok', 'ok']);
 */
export function runDag(options: RunOptions): RunHandle {
  return new DagRun(options).start();
}
