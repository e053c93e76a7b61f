import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { MegaNestError } from '#contracts';
import { Sealer, type ResponseEvent } from '#responses';
import { Drain, type HttpCall } from '#service-kit';
import { ResponseLeasesRepository, ResponsesRepository, type Lease } from '#storage';
import { Inject, Injectable, type BeforeApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { gatewayEnvironment, type GatewayEnvironment } from '../../config/gateway.environment.js';
import { GenerationStarter } from './generation-starter.js';
import {
  BackgroundJournal,
  ForegroundJournal,
  LeaseLostError,
  noJournal,
  type Journal,
  type JournalOptions,
} from './journal.js';
import type { ResponsePlan } from '../context/response-plan.js';
import { ResponseRun, sizeOf } from './response-run.js';
import { keptSecrets, openSecrets } from '../tools/mcp/kept-secrets.js';

export interface ForegroundOptions {
  call: HttpCall;
  /** The response is sent whole, so nobody knows its id before its end. */
  atEndOnly: boolean;
  idempotency?: { key: string; fingerprint: string };
}

/** Background responses that a process works on at a time; their requests are in its memory. */
const mostBackground = 1_000;

/** The responses that this process is making. */
@Injectable()
export class ResponseRuns implements OnModuleInit, BeforeApplicationShutdown {
  readonly #runs = new Map<string, ResponseRun>();
  #heartbeat: NodeJS.Timeout | undefined;

  constructor(
    @Inject(GenerationStarter) private readonly starter: GenerationStarter,
    @Inject(ResponsesRepository) private readonly responses: ResponsesRepository,
    @Inject(ResponseLeasesRepository) private readonly leases: ResponseLeasesRepository,
    @Inject(gatewayEnvironment) private readonly environment: GatewayEnvironment,
    @Inject(Sealer) private readonly sealer: Sealer,
    @Inject(Drain) drain: Drain,
  ) {
    drain.onBegin((over) => this.#stop(over));
  }

  onModuleInit(): void {
    const everyMs = Math.min(1_000, this.environment.RESPONSES_LEASE_MS / 4);
    let beating = false;
    this.#heartbeat = setInterval(() => {
      if (beating) return;
      beating = true;
      // A missed beat is no harm: the next one comes long before the lease runs out.
      void this.#beat()
        .catch(() => undefined)
        .finally(() => (beating = false));
    }, everyMs).unref();
  }

  /** Last of all: until then the leases of what is still being written have to be kept. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.#handOver(() => true);
    clearInterval(this.#heartbeat);
  }

  /**
   * What has said nothing yet another gateway begins again at once. The others cannot be continued elsewhere: they end by
   * themselves within the time that is left.
   */
  async #stop(over: AbortSignal): Promise<void> {
    await this.#handOver((run) => !run.hasOutput);
    const ended = Promise.allSettled([...this.#runs.values()].map((run) => run.ended));
    await Promise.race([ended, over.aborted || once(over, 'abort')]);
  }

  async #handOver(which: (run: ResponseRun) => boolean): Promise<void> {
    const handedOn = [...this.#runs.values()].filter((run) => run.background && which(run));
    if (handedOn.length === 0) return;
    for (const run of handedOn) run.abandon(new LeaseLostError('This gateway is stopping.'));
    await Promise.allSettled(handedOn.map((run) => run.ended));
    await this.leases.release(handedOn.flatMap(leaseOf)).catch(() => undefined);
  }

  /** The responses that this process works on now. */
  get ids(): string[] {
    return [...this.#runs.keys()];
  }

  /** The run of a response in this process; one of another owner does not exist. */
  find(owner: string, id: string): ResponseRun | undefined {
    const run = this.#runs.get(id);
    return run?.owner === owner ? run : undefined;
  }

  /** Errors: those of the generation before its first token, and then nothing is kept. */
  async startForeground(plan: ResponsePlan, options: ForegroundOptions): Promise<ResponseRun> {
    const { call, idempotency, atEndOnly } = options;
    const lease = { leaseOwner: randomUUID(), leaseMs: this.environment.RESPONSES_LEASE_MS };
    const journal = plan.initial.store
      ? new ForegroundJournal(this.responses, plan, {
          ...lease,
          idempotency,
          atEndOnly: atEndOnly && !idempotency,
        })
      : noJournal;
    const run = this.#create(plan, journal, (signal) =>
      this.starter.start(plan, { ...call, owner: plan.owner, signal }),
    );
    const stop = () => run.stop();
    call.signal.addEventListener('abort', stop, { once: true });
    const forget = () => call.signal.removeEventListener('abort', stop);
    try {
      await run.startForeground();
    } catch (error) {
      forget();
      throw error;
    }
    // The signal of a WebSocket lives on: it must not keep what has ended.
    run.ended.then(forget, forget);
    this.#register(run);
    return run;
  }

  /** Errors: overloaded where this process works on as many background responses as it may, or on as great ones. */
  requireBackgroundRoom({ job }: ResponsePlan): void {
    const sizes = [...this.#runs.values()].flatMap(({ background, size }) => (background ? [size] : []));
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    const { BODIES_LIMIT_BYTES: maxBytes } = this.environment;
    const isFull = maxBytes > 0 && bytes > 0 && bytes + sizeOf(job) > maxBytes;
    if (sizes.length < mostBackground && !isFull) return;
    const detail = `${sizes.length} background responses with ${bytes} bytes under way`;
    throw new MegaNestError('overloaded', { service: 'gateway', detail, retryAfter: 5 });
  }

  /** Runs a response whose row is written already. `begun`: its log so far, where another process began it. */
  startBackground(plan: ResponsePlan, journal: Journal, begun: readonly ResponseEvent[] = []): ResponseRun {
    const timeoutMs = this.environment.RESPONSES_BACKGROUND_TIMEOUT_MS;
    const call = {
      requestId: plan.initial.id,
      traceparent: '',
      deadline: Date.now() + timeoutMs,
      owner: plan.owner,
    };
    const generate = (signal: AbortSignal) => this.starter.startPatiently(plan, { ...call, signal });
    const run = this.#create(plan, journal, generate, begun);
    run.startBackground();
    this.#register(run);
    return run;
  }

  /** `leaseOwner`: of a response that was claimed under it. */
  backgroundJournal(
    plan: ResponsePlan,
    {
      leaseOwner = randomUUID(),
      idempotency,
    }: Partial<Pick<JournalOptions, 'leaseOwner' | 'idempotency'>> = {},
  ): BackgroundJournal {
    const { RESPONSES_LEASE_MS: leaseMs, RESPONSES_ENCRYPTION_KEYS: keys } = this.environment;
    const { owner, toolSecrets: secrets } = plan;
    const keysAreElsewhere = keys.length > 0;
    const toolSecrets = keptSecrets(secrets, { sealer: this.sealer, owner, keysAreElsewhere });
    const kept = toolSecrets === undefined ? plan : { ...plan, job: { ...plan.job, toolSecrets } };
    return new BackgroundJournal(this.responses, this.leases, kept, {
      leaseOwner,
      leaseMs,
      idempotency,
    });
  }

  /** The plan of a response that another process began, with what its tools need. Errors: internal_error. */
  withSecrets(plan: ResponsePlan): ResponsePlan {
    const { owner, initial, job } = plan;
    const toolSecrets = openSecrets(job.toolSecrets, initial.tools, { sealer: this.sealer, owner });
    return { ...plan, toolSecrets };
  }

  #create(
    plan: ResponsePlan,
    journal: Journal,
    generate: ConstructorParameters<typeof ResponseRun>[0]['generate'],
    begun: readonly ResponseEvent[] = [],
  ): ResponseRun {
    const keepAliveMs = this.environment.RESPONSES_KEEP_ALIVE_MS;
    const sealReasoning = plan.job.include.includes('reasoning.encrypted_content')
      ? (text: string) => this.sealer.seal({ kind: 'reasoning', owner: plan.owner }, text)
      : undefined;
    return new ResponseRun({ plan, journal, generate, keepAliveMs, begun, sealReasoning });
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
    const held = await this.leases.heartbeat(leases, this.environment.RESPONSES_LEASE_MS);
    for (const { id, cancelRequested } of held) if (cancelRequested) this.#runs.get(id)?.stop();
  }
}

function leaseOf({ id, leaseOwner }: ResponseRun): Lease[] {
  return leaseOwner === undefined ? [] : [{ id, owner: leaseOwner }];
}
