import { MegaNestError, type EngineStatus } from '#platform/contracts';
import { CircuitBreaker } from '#platform/foundation';
import { setTimeout as wait } from 'node:timers/promises';
import type { EngineModel } from '../choose-model.js';
import type { EngineKind } from '../engine-kind.js';
import type { RemoteGenerator } from '../remote-generator-interface.js';
import { modelsSchema } from '../models-schema.js';
import { openRemoteGenerator } from '../remote-generator.js';
import type { RemoteServer } from '../remote-server.js';
import { findModels, serverOf, withUses } from './find-models.js';
import { isFaultOfEngine, type EngineTimes, type PoolEntry, type RunningCall } from './pool-entry.js';

const noAnswer = 'it does not answer in time';
/** Failed checks in a row after which the calls that wait for an engine go to other ones. */
const maxMisses = 2;

/** One engine: its models, its running calls and its circuit breaker. */
export class Engine {
  readonly breaker: CircuitBreaker;
  readonly id: string;
  readonly #server: RemoteServer;
  readonly #generators = new Map<string, Promise<RemoteGenerator>>();
  /** Called for each call that waits for its first token, when the engine does not answer. */
  readonly #waiting = new Set<() => void>();
  #models: readonly EngineModel[];
  #kind: EngineKind;
  #inFlight = 0;
  #requests = 0;
  #failures = 0;
  #problem: string | undefined;
  #fullUntil = 0;
  #misses = 0;
  #checking: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(
    readonly entry: PoolEntry,
    private readonly times: EngineTimes,
    private readonly onModels: () => void,
  ) {
    const { spec, dispatcher, opened } = entry;
    this.id = spec.id;
    this.breaker = new CircuitBreaker(times.breaker);
    this.#server = serverOf(spec, dispatcher);
    this.#kind = spec.kind ?? opened?.generator.kind ?? 'other';
    this.#models = (spec.models ?? []).map((id) => ({ id, uses: spec.uses ?? ['chat'] }));
    if (opened) this.#generators.set(opened.model, Promise.resolve(opened.generator));
  }

  get load(): number {
    return this.#inFlight;
  }

  get weight(): number {
    return this.entry.spec.weight;
  }

  /** Ids of the models that chats may name. */
  get served(): string[] {
    if (this.entry.spec.disabled) return [];
    return this.#models.filter(({ uses }) => uses.includes('chat')).map(({ id }) => id);
  }

  serves(model: string): boolean {
    return this.served.includes(model);
  }

  /** Whether it has room for one more call. */
  get hasRoom(): boolean {
    return this.#inFlight < (this.entry.spec.max_in_flight ?? Infinity);
  }

  /** Whether it takes calls now: its circuit breaker lets them pass, and it has not asked callers to wait. */
  get isReady(): boolean {
    return this.breaker.passes && this.#fullUntil <= performance.now();
  }

  /** Reads the models now, and again from time to time. An engine that cannot be reached is read later. */
  async start(): Promise<void> {
    if (this.entry.spec.disabled || this.entry.opened) return;
    await this.#refresh();
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  /** Opens a model of the engine. Errors: service_unavailable, bad_upstream, model_not_found. */
  open(model: string): Promise<RemoteGenerator> {
    const known = this.#generators.get(model);
    if (known) return known;
    const { spec, dispatcher } = this.entry;
    const sees = this.#models.find(({ id }) => id === model)?.uses.includes('vision');
    const opening = openRemoteGenerator({
      endpoint: spec.url,
      ...(spec.api_key !== undefined && { apiKey: spec.api_key }),
      ...(dispatcher && { dispatcher }),
      ...(sees && { modalities: ['text', 'image'] }),
      ...(spec.kind && { kind: spec.kind }),
      model,
    });
    this.#generators.set(model, opening);
    opening.catch(() => this.#generators.delete(model));
    return opening;
  }

  /** A call begins. `onSilent` is called if the engine does not answer checks before {@link RunningCall.begun}. */
  begin(onSilent: () => void): RunningCall {
    this.#inFlight += 1;
    this.#requests += 1;
    this.breaker.begin();
    this.#waiting.add(onSilent);
    const timer = setTimeout(() => void this.#startChecks(), this.#suspectMs);
    let isOver = false;
    let isJudged = false;
    const begun = () => {
      clearTimeout(timer);
      this.#waiting.delete(onSilent);
    };
    return {
      begun: () => {
        begun();
        if (!isJudged) this.#succeed();
        isJudged = true;
      },
      fail: (error) => {
        isJudged = this.#fail(error) || isJudged;
      },
      end: () => {
        if (isOver) return;
        isOver = true;
        begun();
        this.#inFlight -= 1;
        if (!isJudged) this.breaker.leave();
      },
    };
  }

  status(): EngineStatus {
    const { spec, source } = this.entry;
    return {
      id: this.id,
      url: spec.url,
      source,
      kind: this.#kind,
      models: this.#models.map(({ id, uses }) => ({ id, uses: [...uses], served: this.serves(id) })),
      weight: spec.weight,
      max_in_flight: spec.max_in_flight ?? null,
      labels: spec.labels,
      disabled: spec.disabled,
      has_key: spec.api_key !== undefined,
      healthy: !spec.disabled && this.#problem === undefined && this.breaker.state === 'closed',
      state: this.breaker.state,
      problem: this.#problem ?? null,
      in_flight: this.#inFlight,
      requests: this.#requests,
      failures: this.#failures,
      openings: this.breaker.openings,
    };
  }

  get #suspectMs(): number {
    return this.times.suspectMs ?? 2_000;
  }

  /** Asks the engine whether it lives, because a call waits; again while one does. */
  #startChecks(): Promise<void> {
    this.#checking ??= this.#check().finally(() => (this.#checking = undefined));
    return this.#checking;
  }

  async #check(): Promise<void> {
    while (this.#waiting.size > 0 && !this.#isClosed) {
      const isAlive = await this.#isAlive();
      this.#misses = isAlive ? 0 : this.#misses + 1;
      if (this.#misses >= maxMisses) this.#suspect();
      else if (!isAlive) continue;
      await wait(this.#suspectMs, undefined, { ref: false });
    }
  }

  #suspect(): void {
    this.#misses = 0;
    this.#problem = noAnswer;
    if (this.breaker.state !== 'open') this.breaker.open();
    for (const onSilent of this.#waiting) onSilent();
  }

  async #isAlive(): Promise<boolean> {
    try {
      const signal = AbortSignal.timeout(this.times.checkMs ?? 3_000);
      await this.#server.json({ path: '/v1/models', signal }, modelsSchema);
      return true;
    } catch (error) {
      // An engine that answers with an error lives.
      return error instanceof MegaNestError && error.code === 'bad_upstream';
    }
  }

  /** Returns whether the failure says something about the engine. */
  #fail(error: unknown): boolean {
    if (!(error instanceof MegaNestError)) return false;
    if (error.code === 'overloaded') {
      this.#fullUntil = performance.now() + Math.min(30, error.retryAfter ?? 1) * 1_000;
      return false;
    }
    const isItsFault = isFaultOfEngine(error);
    if (!isItsFault) return false;
    this.#failures += 1;
    this.#problem = error.message;
    this.breaker.fail();
    return true;
  }

  #succeed(): void {
    this.#problem = undefined;
    this.#misses = 0;
    this.breaker.succeed();
  }

  async #refresh(): Promise<void> {
    const { spec } = this.entry;
    try {
      const found = await findModels(spec, this.entry.dispatcher);
      this.#kind = spec.kind ?? found.kind;
      const before = this.served.join('\n');
      if (!spec.models) this.#models = withUses(found.models, spec.uses);
      if (this.breaker.state !== 'closed' && this.#inFlight === 0) this.breaker.succeed();
      if (this.breaker.state === 'closed') this.#problem = undefined;
      if (this.served.join('\n') !== before) this.onModels();
    } catch (error) {
      const isLate = error instanceof MegaNestError && error.code === 'cancelled';
      this.#problem = isLate ? noAnswer : error instanceof Error ? error.message : String(error);
      if (this.breaker.state === 'closed') this.breaker.open();
    }
    if (this.#isClosed) return;
    this.#timer = setTimeout(() => void this.#refresh(), this.times.refreshMs ?? 30_000).unref();
  }
}
