import { once } from 'node:events';
import { MegaNestError } from '#platform/contracts';
import { Sealer, type ResponseEvent } from '#api/responses';
import { Drain, type HttpCall } from '#platform/service-kit';
import type { Lease, StoredResponse } from '#platform/storage';
import { Inject, Injectable, type BeforeApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { gatewayEnvironment, type GatewayEnvironment } from '../../config/gateway.environment.js';
import { GenerationStarter } from './generation-starter.js';
import {
  LeaseLostError,
  ResponsePersistence,
  type Persistence,
  type PersistenceWish,
} from './persistence.js';
import type { ResponsePlan } from '../context/response-plan.js';
import { ResponseRun, sizeOf } from './response-run.js';

export interface StartOptions extends PersistenceWish {
  /** The call of the caller that waits for the response. A durable response continues after the caller disconnects. */
  call: HttpCall;
}

/** A new run, or the earlier response with the same Idempotency-Key. */
export type StartedRun = { run: ResponseRun } | { earlier: StoredResponse };

/** Limit for the concurrent background responses of a process; their requests are in its memory. */
const maxBackground = 1_000;

/** The responses that this process generates. */
@Injectable()
export class ResponseRuns implements OnModuleInit, BeforeApplicationShutdown {
  readonly #runs = new Map<string, ResponseRun>();
  #heartbeat: NodeJS.Timeout | undefined;
  /** Called after responses were released for other gateways. */
  onReleased: () => Promise<unknown> = () => Promise.resolve();

  constructor(
    @Inject(GenerationStarter) private readonly starter: GenerationStarter,
    @Inject(ResponsePersistence) private readonly persistence: ResponsePersistence,
    @Inject(gatewayEnvironment) private readonly environment: GatewayEnvironment,
    @Inject(Sealer) private readonly sealer: Sealer,
    @Inject(Drain) drain: Drain,
  ) {
    drain.onBegin((over) => this.#stop(over));
    drain.onIdle((over) => this.#stop(over));
  }

  onModuleInit(): void {
    const everyMs = Math.min(1_000, this.environment.RESPONSES_LEASE_MS / 4);
    let beating = false;
    this.#heartbeat = setInterval(() => {
      if (beating) return;
      beating = true;
      // A missed heartbeat does no harm: the next one comes long before the lease expires.
      void this.#beat()
        .catch(() => undefined)
        .finally(() => (beating = false));
    }, everyMs).unref();
  }

  /** Runs last: the leases of responses that are still being written must be renewed until then. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.#handOver(() => true);
    clearInterval(this.#heartbeat);
  }

  /**
   * Another gateway restarts the responses without output at once. The other responses cannot be continued elsewhere:
   * they end by themselves within the remaining time.
   */
  async #stop(over: AbortSignal): Promise<void> {
    await this.#handOver((run) => !run.hasOutput);
    const ended = Promise.allSettled([...this.#runs.values()].map((run) => run.ended));
    await Promise.race([ended, over.aborted || once(over, 'abort')]);
  }

  async #handOver(which: (run: ResponseRun) => boolean): Promise<void> {
    const handedOn = [...this.#runs.values()].filter((run) => run.isDurable && which(run));
    if (handedOn.length === 0) return;
    for (const run of handedOn) run.abandon(new LeaseLostError('This gateway is stopping.'));
    await Promise.allSettled(handedOn.map((run) => run.ended));
    await this.persistence
      .release(handedOn.flatMap(leaseOf))
      .then(() => this.onReleased())
      // Another gateway finds them when it looks for expired leases.
      .catch(() => undefined);
  }

  /** Ids of the responses that this process works on now. */
  get ids(): string[] {
    return [...this.#runs.keys()];
  }

  /** The run of a response in this process; undefined for a response of another owner. */
  find(owner: string, id: string): ResponseRun | undefined {
    const run = this.#runs.get(id);
    return run?.owner === owner ? run : undefined;
  }

  /**
   * Starts a response. `earlier`: the earlier response with the same Idempotency-Key; only a durable response finds it.
   * Errors, after which nothing is stored: the errors of the generation before its first token; conflict while another
   * request with the same Idempotency-Key runs. A durable response fails only with overloaded, where the background
   * responses of this process have reached their limit of number or bytes.
   */
  async start(plan: ResponsePlan, { call, ...wish }: StartOptions): Promise<StartedRun> {
    const persistence = this.persistence.choose(plan, wish);
    if (persistence.isDurable) {
      this.#requireRoom(plan);
      return this.#startDurable(plan, persistence);
    }
    const run = this.#create(plan, persistence, { ...call, owner: plan.owner });
    const stop = () => run.stop();
    call.signal.addEventListener('abort', stop, { once: true });
    const forget = () => call.signal.removeEventListener('abort', stop);
    try {
      await run.start();
    } catch (error) {
      forget();
      throw error;
    }
    // The signal of a WebSocket outlives the run: it must not hold a reference to an ended run.
    run.ended.then(forget, forget);
    this.#register(run);
    return { run };
  }

  /** Continues a response that another process began. `begun`: its log so far. */
  async resume(plan: ResponsePlan, persistence: Persistence, begun: readonly ResponseEvent[]): Promise<void> {
    await this.#startDurable(plan, persistence, begun);
  }

  async #startDurable(
    plan: ResponsePlan,
    persistence: Persistence,
    begun: readonly ResponseEvent[] = [],
  ): Promise<StartedRun> {
    const deadline = Date.now() + this.environment.RESPONSES_BACKGROUND_TIMEOUT_MS;
    const call = { requestId: plan.initial.id, traceparent: '', deadline, owner: plan.owner };
    const run = this.#create(plan, persistence, call, begun);
    const earlier = await run.start();
    if (earlier) return { earlier };
    this.#register(run);
    return { run };
  }

  #requireRoom({ job }: ResponsePlan): void {
    const sizes = [...this.#runs.values()].flatMap(({ isDurable, size }) => (isDurable ? [size] : []));
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    const { BODIES_LIMIT_BYTES: maxBytes } = this.environment;
    const isFull = maxBytes > 0 && bytes > 0 && bytes + sizeOf(job) > maxBytes;
    if (sizes.length < maxBackground && !isFull) return;
    const detail = `${sizes.length} background responses with ${bytes} bytes in progress`;
    throw new MegaNestError('overloaded', { service: 'gateway', detail, retryAfter: 5 });
  }

  #create(
    plan: ResponsePlan,
    persistence: Persistence,
    call: Omit<HttpCall, 'signal'>,
    begun: readonly ResponseEvent[] = [],
  ): ResponseRun {
    const { RESPONSES_KEEP_ALIVE_MS: keepAliveMs } = this.environment;
    const patient = persistence.isDurable;
    const generate = (signal: AbortSignal) => this.starter.start(plan, { ...call, signal }, patient);
    const sealReasoning = plan.job.include.includes('reasoning.encrypted_content')
      ? (text: string) => this.sealer.seal({ kind: 'reasoning', owner: plan.owner }, text)
      : undefined;
    return new ResponseRun({ plan, persistence, generate, keepAliveMs, begun, sealReasoning });
  }

  #register(run: ResponseRun): void {
    this.#runs.set(run.id, run);
    const forget = () => {
      if (this.#runs.get(run.id) === run) this.#runs.delete(run.id);
    };
    run.ended.then(forget, forget);
  }

  async #beat(): Promise<void> {
    const leases = [...this.#runs.values()].flatMap(leaseOf);
    if (leases.length === 0) return;
    const held = await this.persistence.renew(leases);
    for (const { id, cancelRequested } of held) if (cancelRequested) this.#runs.get(id)?.stop();
  }
}

function leaseOf({ id, leaseOwner }: ResponseRun): Lease[] {
  return leaseOwner === undefined ? [] : [{ id, owner: leaseOwner }];
}
