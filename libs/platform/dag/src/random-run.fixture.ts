import { MegaNestError } from '#platform/contracts';
import type { MegaServiceDefinition } from './definition/types.js';
import { runDag } from './engine/dag-run.js';
import type { NodeContext, RunEvent, RunHandle } from './engine/types.js';
import { definitionOf, start, type Deed, type Plan } from './random-plans.fixture.js';

export interface Call {
  node: string;
  context: NodeContext;
  /** All its predecessors had settled or, if it reads their stream, begun to stream. */
  inputsReady: boolean;
  /** The run had already ended. */
  late: boolean;
}

/** The fake clock of the test. */
export interface VirtualClock {
  runAll(): Promise<unknown>;
  countTimers(): number;
}

export type Outcome = { value: unknown } | { error: unknown };

/** Runs a plan with fake services and records all events. */
export class Scenario {
  readonly definition: MegaServiceDefinition;
  readonly calls: Call[] = [];
  readonly settled = new Map<string, string>();
  readonly events: RunEvent[] = [];
  readonly read: unknown[] = [];
  readonly caller = new AbortController();
  readonly handle: RunHandle;
  readonly streaming = new Set<string>();
  openStreams = 0;
  /** Timers of the engine that were set when the run reported its end. */
  timersLeft = 0;
  over = false;
  private ownTimers = 0;

  constructor(private readonly plan: Plan) {
    this.definition = definitionOf(plan);
    this.handle = runDag({
      definition: this.definition,
      request: {},
      run: (context) => this.call(context),
      signal: this.caller.signal,
      deadline: plan.deadlineMs === undefined ? undefined : start + plan.deadlineMs,
      onEvent: (event) => this.note(event),
    });
    if (plan.cancelAtMs !== undefined) this.startTimer(() => this.caller.abort(), plan.cancelAtMs);
  }

  /** Advances the clock until the run has ended; returns its result or its error. */
  async play(clock: VirtualClock): Promise<Outcome> {
    const reading = this.readStream();
    const outcome = this.handle.result.then(
      (value): Outcome => ({ value }),
      (error: unknown): Outcome => ({ error }),
    );
    const idle = this.countTimersAtEnd(clock);
    await clock.runAll();
    await Promise.all([reading, idle]);
    return outcome;
  }

  private async countTimersAtEnd(clock: VirtualClock): Promise<void> {
    await this.handle.settled;
    this.timersLeft = clock.countTimers() - this.ownTimers;
  }

  private async readStream(): Promise<void> {
    const { leaveAfter } = this.plan;
    try {
      for await (const chunk of this.handle.stream) {
        this.read.push(chunk);
        if (this.read.length === leaveAfter) break;
      }
    } catch {
      // The result rejects with the same error, which the properties check.
    }
  }

  private note(event: RunEvent): void {
    this.events.push(event);
    if (event.type === 'stream-started') this.streaming.add(event.node);
    if (event.type !== 'node-settled') return;
    this.settled.set(event.node, event.state);
    if (event.state === 'failed' || event.state === 'cancelled')
      this.over ||= event.why?.includes('had read enough') !== true;
  }

  private call(context: NodeContext): Promise<unknown> | AsyncIterable<unknown> {
    const { node, attempt } = context;
    this.calls.push({ node, context, inputsReady: this.inputsReady(context), late: this.over });
    const deeds = this.plan.nodes[Number(node.slice(1))]?.deeds ?? [];
    const deed = deeds[(attempt - 1) % deeds.length];
    if (!deed) throw new Error('a node without deeds');
    if (deed.end === 'throw') throw new Error('thrown at once');
    if (deed.end === 'stream' || deed.end === 'break') return this.speak(deed, context);
    return this.act(deed, context);
  }

  private inputsReady({ node, service }: NodeContext): boolean {
    const before = this.definition.nodes.get(node)?.after ?? [];
    const streams = service === 'relay' ? this.streaming : new Set<string>();
    return before.every((name) => this.settled.has(name) || streams.has(name));
  }

  private async act(deed: Deed, context: NodeContext): Promise<unknown> {
    await this.pause(deed.end === 'hang' ? undefined : deed.afterMs, deed.deaf ? undefined : context.signal);
    if (deed.end === 'retryable') throw new MegaNestError('service_unavailable', { service: 'pass' });
    if (deed.end === 'fatal') throw new MegaNestError('invalid_request', { detail: 'no' });
    if (deed.end === 'cut') return { cut: true };
    if (deed.end === 'answer') return { cut: true, answer: 'verdict' };
    return `${context.node} after ${String(context.inputs.text)}`;
  }

  private async *speak(deed: Deed, context: NodeContext): AsyncGenerator {
    this.openStreams++;
    try {
      const source = (context.inputs.text ?? []) as AsyncIterable<unknown>;
      for await (const chunk of context.service === 'relay' ? source : [0, 1, 2]) {
        await this.pause(deed.afterMs, deed.deaf ? undefined : context.signal);
        yield chunk;
        if (deed.end === 'break' && chunk === 1) throw new MegaNestError('service_unavailable');
      }
    } finally {
      this.openStreams--;
    }
  }

  /** Waits; without a time forever, and without a signal to the end. */
  private pause(delayMs: number | undefined, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const clear = delayMs === undefined ? undefined : this.startTimer(resolve, delayMs);
      const stop = () => {
        clear?.();
        reject(signal?.reason as Error);
      };
      signal?.addEventListener('abort', stop, { once: true });
      if (signal?.aborted) stop();
    });
  }

  private startTimer(action: () => void, delayMs: number): () => void {
    this.ownTimers++;
    let set = true;
    const end = () => {
      if (set) this.ownTimers--;
      set = false;
    };
    const timer = setTimeout(() => {
      end();
      action();
    }, delayMs);
    return () => {
      end();
      clearTimeout(timer);
    };
  }
}
