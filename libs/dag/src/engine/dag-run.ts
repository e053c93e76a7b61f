import { MegaNestError } from '#contracts';
import { readsStream } from '../definition/rules.js';
import type { MegaServiceDefinition } from '../definition/types.js';
import { resolveParameters, type NodeParameters } from '../parameters/resolve.js';
import { decide, type RunView } from './decide.js';
import { Deferred } from './deferred.js';
import { nameNode } from './errors.js';
import { NodeRecord, type Cut } from './node-record.js';
import { NodeWorker } from './node-worker.js';
import { ReadyQueue } from './ready-queue.js';
import type { RunReceipt, SettledState } from './receipt.js';
import { RunAnswer } from './run-answer.js';
import { startTimer } from './timers.js';
import type { NodeContext, RunEvent, RunHandle, RunOptions, Verdict } from './types.js';
import { isVerdict } from './verdict.js';

/** One run of a mega service: which node may start, and how the run ends. */
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
  private worker?: NodeWorker;
  private verdict?: Verdict;
  private unsettled: number;
  /** Nodes whose work has not unwound yet, settled or not. */
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
      this.worker = this.createWorker();
      this.watchForEnd();
      this.queue.startRoots();
    } catch (error) {
      this.stop(MegaNestError.from(error, definition.name));
    }
    return this.handle();
  }

  /** The output, or the verdict that took its place: an outer run ends by an inner one's verdict too. */
  async resultOrVerdict(): Promise<unknown> {
    const result = await this.answer.result;
    return this.verdict ?? result;
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

  private createWorker(): NodeWorker {
    const { options, records, parameters, answer } = this;
    return new NodeWorker({
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
    const { parameters, signal, deadline } = context;
    const prefix = `${record.node.name}/`;
    const onEvent = (event: RunEvent): void => this.emit({ ...event, node: prefix + event.node });
    const isOuter = deadline === this.options.deadline;
    const currentDeadline = isOuter ? this.options.currentDeadline : undefined;
    const times = { deadline, currentDeadline };
    const nested = new DagRun({ definition, request, parameters, run, signal, ...times, onEvent });
    const handle = nested.start();
    record.nestedReceipt = () => nested.receipt();
    return record.node.stream ? handle.stream : nested.resultOrVerdict();
  }

  // From ready to running

  private begin(record: NodeRecord): void {
    if (record.settled) return;
    try {
      const decision = decide(record, this.view());
      if (decision.kind === 'run') void this.work(record, (worker) => worker.run(record));
      else if (decision.kind === 'fail') this.fail(record, decision.error);
      else if (decision.standIn) this.skipOrStandIn(record, decision.why, decision.cut);
      else this.skip(record, decision.why, decision.cut);
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
    task: (worker: NodeWorker) => Promise<unknown>,
    skipped?: string,
  ): Promise<void> {
    if (!this.worker) return;
    this.working++;
    if (skipped === undefined) record.start();
    try {
      const value = await task(this.worker);
      if (skipped === undefined) this.complete(record, value);
      else this.skip(record, skipped, undefined, { value });
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
    const verdict = isVerdict(value) ? value : undefined;
    const answers = verdict !== undefined && 'answer' in verdict;
    if (verdict) record.cut = 'verdict';
    if (answers) this.verdict = verdict;
    this.settle(record, 'ok');
    if (answers) this.cancelTheRest(record.node.name);
  }

  private fail(record: NodeRecord, thrown: unknown): void {
    if (record.settled) return;
    const { node } = record;
    const known = MegaNestError.from(thrown, node.target.service);
    if (node.optional && !record.stream) {
      this.skipOrStandIn(record, known.message);
      return;
    }
    const error = nameNode(known, node, this.options.definition.nodes.values());
    this.mark(record, 'failed', error.message);
    this.breakStream(record, error);
    this.stop(error, `node "${node.name}" failed`);
  }

  private skipOrStandIn(record: NodeRecord, why: string, cut?: Cut): void {
    const standIn = this.worker?.standIn(record);
    if (standIn && 'stream' in standIn)
      void this.work(record, (worker) => worker.forward(record, standIn.stream), why);
    else this.skip(record, why, cut, standIn);
  }

  private skip(record: NodeRecord, why: string, cut?: Cut, output?: { value: unknown }): void {
    if (record.settled) return;
    record.output = output;
    if (!output) record.cut = cut;
    this.settle(record, 'skipped', why);
  }

  private mark(record: NodeRecord, state: SettledState, why?: string): void {
    record.settle(state, why);
    this.unsettled--;
    this.emit({ type: 'node-settled', node: record.node.name, state, why });
  }

  /** The node has ended in a way that lets others go on. */
  private settle(record: NodeRecord, state: 'ok' | 'skipped', why?: string): void {
    this.mark(record, state, why);
    this.queue.releaseFollowers(record);
    this.stopUnreadStreams(record);
    this.queue.drain();
    if (this.unsettled === 0) this.finish();
  }

  /** A stream whose readers have all settled runs for nobody. */
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
    this.mark(record, 'cancelled', why);
    record.scope.abort(reason);
    this.breakStream(record, reason);
  }

  /** Readers inside the run wait no longer; the client's stream is ended by the run itself. */
  private breakStream({ stream }: NodeRecord, error: Error): void {
    if (stream !== this.answer.chunks) stream?.fail(error);
  }

  // The end

  private readonly cancel = (): void => this.stop(new MegaNestError('cancelled'));

  /** A reason that is an error of ours (a shutdown, an outer node's timeout) is what the run ends with. */
  private readonly followSignal = (): void => {
    const reason: unknown = this.options.signal?.reason;
    this.stop(reason instanceof MegaNestError ? reason : new MegaNestError('cancelled', { cause: reason }));
  };

  private outOfTime(): MegaNestError {
    const running = [...this.records.values()].filter(({ state }) => state === 'running');
    const names = running.map(({ node }) => `"${node.name}"`).join(', ');
    return new MegaNestError('deadline_exceeded', { detail: names && ` while waiting for ${names}` });
  }

  /** A verdict has answered: what lies below it is skipped, what runs beside it is stopped. */
  private cancelTheRest(judge: string): void {
    for (const record of this.records.values()) {
      if (record.settled) continue;
      const below = record.node.after.some((before) => this.records.get(before)?.cut === 'verdict');
      if (below) this.skip(record, `cut by the verdict of "${judge}"`, 'verdict');
      else this.cancelNode(record, `"${judge}" answered in its place`);
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
      if (this.verdict) this.answer.giveVerdict(this.verdict.answer);
      else this.answer.giveOutput(this.records.get(output));
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
      // A listener that throws must not change the run that it watches.
    }
  }
}
