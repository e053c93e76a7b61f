import { MegaNestError } from '#contracts';
import {
  EventLog,
  isFinished,
  isOutput,
  ResponseMachine,
  type MachineStep,
  type ResponseEvent,
  type ResponseObject,
} from '#responses';
import { continueWith, type ResponseGeneration } from './generation-starter.js';
import type { StoredResponse } from '#storage';
import { LeaseLostError, type Persistence } from './persistence.js';
import type { ResponsePlan } from '../context/response-plan.js';

export interface RunOptions {
  plan: ResponsePlan;
  persistence: Persistence;
  /** Starts the generation; aborting the signal stops it. */
  generate: (signal: AbortSignal) => Promise<ResponseGeneration>;
  keepAliveMs: number;
  /** Where the caller asked for the model's thoughts sealed. */
  sealReasoning?: (text: string) => string;
  /** What was logged before, where this run takes over from another process. */
  begun?: readonly ResponseEvent[];
}

/** How long a foreground response is held back so that an early failure still gets an HTTP status of its own. */
const holdMs = 1_000;
const sameKey = 'A request with the same Idempotency-Key is under way.';

/**
 * One response being made: feeds the generation through the state machine, writes them where they are kept, and then shows the
 * events to whoever reads the log.
 */
export class ResponseRun {
  readonly log = new EventLog();
  readonly id: string;
  readonly owner: string;
  readonly isStored: boolean;
  /** It outlives its request: see {@link Persistence}. */
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
    this.#machine = new ResponseMachine(plan.initial, begun.length, undefined, sealReasoning);
  }

  /** Bytes of what was asked, about. */
  get size(): number {
    this.#size ??= sizeOf(this.options.plan.job);
    return this.#size;
  }

  /** The response as its log has it now. */
  get response(): ResponseObject {
    return this.#machine.response;
  }

  /** Whether a part of the answer is there; then it cannot be begun again elsewhere. */
  get hasOutput(): boolean {
    return this.log.events.some(isOutput);
  }

  /** The generation behind it, once it has begun: ignored fields, receipt. */
  get generation(): ResponseGeneration | undefined {
    return this.#generation;
  }

  /** Why it failed, for callers that wait for it. */
  get failure(): MegaNestError | undefined {
    return this.#failure;
  }

  /** The finished response. Errors: LeaseLostError where another process took it over. */
  get ended(): Promise<ResponseObject> {
    if (!this.#ended) throw new Error('The run was not started');
    return this.#ended;
  }

  /**
   * Starts the response. A durable one exists at once, unless its Idempotency-Key led to an earlier one, which is the
   * result; errors become its failure. For another one this resolves once the model has begun or has taken longer than a
   * moment, and rejects with what went wrong before that, and then the response has never existed.
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

  /** Stops the generation and resolves with the response as it ended. Again: the same. */
  async cancel(): Promise<ResponseObject> {
    this.stop();
    return this.ended;
  }

  /** Stops working on the response without ending it: another process will, or has done. */
  abandon(reason: Error): void {
    this.#abandoned ??= reason;
    this.#abort.abort();
  }

  #start(open: () => AsyncIterable<MachineStep>): void {
    this.#ended = this.#execute(open).finally(() => clearTimeout(this.#keepAlive));
    // A caller that waits sees the rejection. Without a caller it must not end the process.
    this.#ended.catch(() => undefined);
  }

  async #execute(open: () => AsyncIterable<MachineStep>): Promise<ResponseObject> {
    try {
      await this.#generate(open);
      return await this.#finish(() => this.#machine.end());
    } catch (thrown) {
      // What could not be written is lost to this process: the lease runs out, and another one ends it.
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

  /** Queues events to be written; what comes while it writes goes into its next piece. */
  #record(events: readonly ResponseEvent[]): void {
    if (events.length === 0 || this.#writeError) return;
    this.#unwritten.push(...events);
    clearTimeout(this.#keepAlive);
    const repeat = () => this.#record(this.#machine.progress());
    this.#keepAlive = setTimeout(repeat, this.options.keepAliveMs).unref();
    this.#pump();
  }

  /** At most one write at a time; looks again after each, for events may have come while it ended. */
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

  /** Waits until all recorded events are in the log. Errors: those of the writing. */
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

  /** Somebody waits for a response that was promised to be kept and cannot be: it fails, unkept. */
  #failUnkept(before: ResponseObject, error: MegaNestError): ResponseObject {
    this.#failure = error;
    const machine = new ResponseMachine(before, this.log.events.length);
    this.log.append(machine.fail(error));
    return machine.response;
  }

  #leave(reason: Error): never {
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
