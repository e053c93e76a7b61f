import { MegaNestError } from '#platform/contracts';
import {
  EventLog,
  isFinished,
  isOutput,
  ResponseMachine,
  type MachineStep,
  type ResponseEvent,
  type ResponseObject,
} from '#api/responses';
import { continueWith, type ResponseGeneration } from './generation-starter.js';
import type { StoredResponse } from '#platform/storage';
import { LeaseLostError, type Persistence } from './persistence.js';
import type { ResponsePlan } from '../context/response-plan.js';

export interface RunOptions {
  plan: ResponsePlan;
  persistence: Persistence;
  /** Starts the generation; aborting the signal stops it. */
  generate: (signal: AbortSignal) => Promise<ResponseGeneration>;
  keepAliveMs: number;
  /** Seals the model's reasoning; absent where the caller did not ask for it. */
  sealReasoning?: (text: string) => string;
  /** The events that another process logged before this run took over. */
  begun?: readonly ResponseEvent[];
}

/** Delay of a foreground response's headers, so that an early failure still gets its own HTTP status. */
const holdMs = 1_000;
const sameKey = 'A request with the same Idempotency-Key is under way.';

/**
 * One response while it is generated: feeds the steps of the generation to the state machine, stores the resulting
 * events, and then shows them to the readers of the log.
 */
export class ResponseRun {
  readonly log = new EventLog();
  readonly id: string;
  readonly owner: string;
  readonly isStored: boolean;
  /** The response outlives its request: see {@link Persistence}. */
  readonly isDurable: boolean;
  readonly leaseOwner: string | undefined;
  readonly #machine: ResponseMachine;
  readonly #abort = new AbortController();
  #generation: ResponseGeneration | undefined;
  #ended: Promise<ResponseObject> | undefined;
  #failure: MegaNestError | undefined;
  #abandoned: Error | undefined;
  #cancelled = false;
  #size: number | undefined;
  #hasOutput: boolean;
  #unwritten: ResponseEvent[] = [];
  #writing: Promise<void> | undefined;
  #writeError: Error | undefined;
  #keepAlive: NodeJS.Timeout | undefined;

  constructor(private readonly options: RunOptions) {
    const { plan, persistence, begun = [], sealReasoning } = options;
    this.id = plan.initial.id;
    this.owner = plan.owner;
    this.isStored = persistence.isStored;
    this.isDurable = persistence.isDurable;
    this.leaseOwner = persistence.leaseOwner;
    this.log.append(begun);
    this.#hasOutput = begun.some(isOutput);
    this.#machine = new ResponseMachine(plan.initial, begun.length, undefined, sealReasoning);
  }

  /** Approximate bytes of the request. */
  get size(): number {
    this.#size ??= sizeOf(this.options.plan.job);
    return this.#size;
  }

  /** The response after the events of the log so far. */
  get response(): ResponseObject {
    return this.#machine.response;
  }

  /**
   * Whether a part of the answer exists, in the log or on its way there; then another process cannot restart the
   * response.
   */
  get hasOutput(): boolean {
    return this.#hasOutput;
  }

  /** The generation, once it has begun: ignored fields, receipt. */
  get generation(): ResponseGeneration | undefined {
    return this.#generation;
  }

  /** The error of a failed response, for callers that wait for it. */
  get failure(): MegaNestError | undefined {
    return this.#failure;
  }

  /** The finished response. Errors: LeaseLostError where another process took it over. */
  get ended(): Promise<ResponseObject> {
    if (!this.#ended) throw new Error('The run was not started');
    return this.#ended;
  }

  /**
   * Starts the response. A durable response exists at once, and later errors make it fail; where its Idempotency-Key
   * belongs to an earlier response, the result is that response. For another response this resolves once the model has
   * begun or {@link holdMs} have passed. It rejects with an earlier error, and then the response was never stored.
   */
  start(): Promise<StoredResponse | undefined> {
    return this.isDurable ? this.#startDurable() : this.#startWhenBegun();
  }

  async #startDurable(): Promise<StoredResponse | undefined> {
    const earlier = await this.options.persistence.begin();
    if (!earlier) this.#start(() => this.#openSteps());
    return earlier;
  }

  async #startWhenBegun(): Promise<undefined> {
    this.#generation = await this.options.generate(this.#abort.signal);
    const steps = this.#generation.steps[Symbol.asyncIterator]();
    const first = steps.next();
    first.catch(() => undefined);
    try {
      await withinHold(first);
      if (await this.options.persistence.begin()) throw new MegaNestError('conflict', { detail: sameKey });
    } catch (error) {
      this.stop();
      await steps.return?.();
      throw error;
    }
    this.#start(() => continueWith(first, steps));
  }

  /** Stops the generation within one token. */
  stop(): void {
    if (!isFinished(this.#machine.response)) this.#cancelled = true;
    this.#abort.abort();
  }

  /** Stops the generation and resolves with the ended response. A second call returns the same response. */
  async cancel(): Promise<ResponseObject> {
    this.stop();
    return this.ended;
  }

  /**
   * Stops work on the response without ending it: another process ends it, or has ended it. `ended` rejects after the
   * last write.
   */
  abandon(reason: Error): void {
    this.#abandoned ??= reason;
    this.#abort.abort();
  }

  #start(open: () => AsyncIterable<MachineStep>): void {
    this.#ended = this.#execute(open).finally(() => clearTimeout(this.#keepAlive));
    // A waiting caller sees the rejection. Without a caller the rejection must not end the process.
    this.#ended.catch(() => undefined);
  }

  async #execute(open: () => AsyncIterable<MachineStep>): Promise<ResponseObject> {
    try {
      await this.#generate(open);
      return await this.#finish(() => this.#machine.end());
    } catch (thrown) {
      // This process cannot continue a response after a failed write: its lease expires, and another process ends it.
      const lost =
        this.#abandoned ?? this.#writeError ?? (thrown instanceof LeaseLostError ? thrown : undefined);
      if (lost) return this.#leave(lost);
      if (this.#cancelled) return this.#finish(() => this.#machine.cancel());
      const failure = MegaNestError.from(thrown, 'gateway');
      this.#failure = failure;
      return this.#finish(() => this.#machine.fail(failure));
    }
  }

  async #generate(open: () => AsyncIterable<MachineStep>): Promise<void> {
    if (this.log.events.length === 0) this.#record(this.#machine.create());
    this.#record(this.#machine.progress());
    for await (const step of open()) {
      this.#record(this.#machine.take(step));
      if (this.#abort.signal.aborted) break;
    }
    await this.#written();
    if (this.#abandoned) throw this.#abandoned;
    if (this.#cancelled) throw new MegaNestError('cancelled');
  }

  async *#openSteps(): AsyncGenerator<MachineStep> {
    this.#generation = await this.options.generate(this.#abort.signal);
    yield* this.#generation.steps;
  }

  /** Queues events for writing. Events that arrive during a write are part of the next write. */
  #record(events: readonly ResponseEvent[]): void {
    if (events.length === 0 || this.#writeError || this.#abandoned) return;
    this.#hasOutput ||= events.some(isOutput);
    this.#unwritten.push(...events);
    clearTimeout(this.#keepAlive);
    const repeat = () => this.#record(this.#machine.progress());
    this.#keepAlive = setTimeout(repeat, this.options.keepAliveMs).unref();
    this.#pump();
  }

  /** Writes at most one batch at a time, and looks for new events after each. */
  #pump(): void {
    if (this.#writing || this.#unwritten.length === 0 || this.#writeError) return;
    this.#writing = this.#write().finally(() => {
      this.#writing = undefined;
      this.#pump();
    });
  }

  async #write(): Promise<void> {
    while (this.#unwritten.length > 0 && !this.#writeError) {
      const events = this.#unwritten;
      this.#unwritten = [];
      try {
        await this.options.persistence.append(events, 'in_progress');
        this.log.append(events);
      } catch (error) {
        this.#writeError = error instanceof Error ? error : new Error(String(error));
        this.#abort.abort();
      }
    }
  }

  /** Waits until all recorded events are in the log. Errors: the errors of the writes. */
  async #written(): Promise<void> {
    while (this.#writing) await this.#writing;
    if (this.#writeError) throw this.#writeError;
  }

  async #finish(end: () => ResponseEvent[]): Promise<ResponseObject> {
    clearTimeout(this.#keepAlive);
    await this.#written();
    const before = this.#machine.response;
    const events = end();
    const response = this.#machine.response;
    try {
      await this.options.persistence.finish(events, response);
    } catch (error) {
      if (error instanceof LeaseLostError || this.isDurable) return this.#leave(error as Error);
      return this.#failUnkept(before, MegaNestError.from(error, 'postgres'));
    }
    this.log.append(events);
    return response;
  }

  /** Fails a response that cannot be stored although its request asks for that and its caller waits for it. */
  #failUnkept(before: ResponseObject, error: MegaNestError): ResponseObject {
    this.#failure = error;
    const machine = new ResponseMachine(before, this.log.events.length);
    this.log.append(machine.fail(error));
    return machine.response;
  }

  async #leave(reason: Error): Promise<never> {
    // A write that arrives after another process has read the log would be missing there.
    while (this.#writing) await this.#writing;
    this.log.abandon(reason);
    throw reason;
  }
}

/** Bytes of a job as it is stored. */
export function sizeOf(job: ResponsePlan['job']): number {
  return Buffer.byteLength(JSON.stringify(job));
}

async function withinHold(first: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const hold = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, holdMs);
  });
  await Promise.race([first, hold]).finally(() => clearTimeout(timer));
}
