import { MegaNestError } from '#platform/contracts';
import {
  isOutput,
  responseFromEvents,
  ResponseMachine,
  type ResponseEvent,
  type ResponseObject,
} from '#api/responses';
import { createLogger, Drain } from '#platform/service-kit';
import {
  ConversationsRepository,
  Database,
  CitedPassagesRepository,
  IdempotentAnswersRepository,
  RateCountsRepository,
  ResponseLeasesRepository,
  ResponsesRepository,
  StoredCompletionsRepository,
  type StoredResponse,
} from '#platform/storage';
import { Inject, Injectable, type BeforeApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { gatewayEnvironment, type GatewayEnvironment } from '../../config/gateway.environment.js';
import type { GenerationJob, ResponsePlan } from '../context/response-plan.js';
import { ResponsePersistence, type Persistence } from './persistence.js';
import { ResponseRuns } from './response-runs.js';

const claimedAtOnce = 20;
const stoppedWriting = new MegaNestError('internal_error', {
  service: 'gateway',
  detail: 'it stopped while it was writing this response; send the request again',
});

/** Limit for takeovers: a response that crashes each gateway must not reach all of them. */
const maxTakeovers = 3;
const givenUp = new MegaNestError('internal_error', {
  service: 'gateway',
  detail: `${maxTakeovers + 1} processes in turn stopped while they worked on this response`,
});

/** Takes over the responses of a gateway that has died. */
@Injectable()
export class ResponseSweeper implements OnModuleInit, BeforeApplicationShutdown {
  readonly #logger;
  #timer: NodeJS.Timeout | undefined;
  /** Ids of responses that are claimed and not restarted yet. */
  readonly #taking = new Set<string>();
  /** The last sweep. */
  #sweep: Promise<void> = Promise.resolve();

  constructor(
    @Inject(ResponseRuns) private readonly runs: ResponseRuns,
    @Inject(ResponsePersistence) private readonly persistence: ResponsePersistence,
    @Inject(ResponseLeasesRepository) private readonly leases: ResponseLeasesRepository,
    @Inject(gatewayEnvironment) private readonly environment: GatewayEnvironment,
    @Inject(Drain) private readonly drain: Drain,
  ) {
    drain.onBegin(() => {
      clearInterval(this.#timer);
      return this.#sweep;
    });
    this.#logger = createLogger('gateway', environment.LOG_LEVEL);
  }

  onModuleInit(): void {
    const attempt = () => {
      this.#sweep = this.takeOver().catch((error: unknown) =>
        this.#logger.warn({ err: error as Error }, 'could not take over responses'),
      );
    };
    attempt();
    this.#timer = setInterval(attempt, this.environment.RESPONSES_LEASE_MS / 3).unref();
  }

  beforeApplicationShutdown(): void {
    clearInterval(this.#timer);
  }

  /** Claims responses whose lease has expired. Restarts a response without output; ends the others as failed. */
  async takeOver(): Promise<void> {
    if (this.drain.begun) return;
    const { RESPONSES_LEASE_MS: leaseMs } = this.environment;
    const leaseOwner = randomUUID();
    const claimed = await this.leases.claimExpired(leaseOwner, leaseMs, {
      limit: claimedAtOnce,
      working: [...this.runs.ids, ...this.#taking],
    });
    for (const { id } of claimed) this.#taking.add(id);
    const takes = claimed.map((response) =>
      this.#take(response, leaseOwner).finally(() => this.#taking.delete(response.id)),
    );
    await Promise.all(takes);
  }

  async #take(stored: StoredResponse, leaseOwner: string): Promise<void> {
    const begun = (await this.leases.readEvents(stored.id)) as unknown as ResponseEvent[];
    const plan = planOf(stored, begun);
    const persistence = this.persistence.takeOver(plan, leaseOwner);
    const end = (error: MegaNestError) => fail(persistence, { plan, begun }, error);
    this.#logger.warn({ response: stored.id, events: begun.length }, 'taking over a response');
    if (!stored.request || begun.some(isOutput)) return end(stoppedWriting);
    if (Number(stored.request['takeovers'] ?? 0) > maxTakeovers) return end(givenUp);
    try {
      await this.runs.resume(this.persistence.withSecrets(plan), persistence, begun);
    } catch (error) {
      await end(MegaNestError.from(error, 'gateway'));
    }
  }
}

/** Appends the failure to the log of a response. */
async function fail(
  persistence: Persistence,
  { plan, begun }: { plan: ResponsePlan; begun: readonly ResponseEvent[] },
  error: MegaNestError,
): Promise<void> {
  const machine = new ResponseMachine(plan.initial, begun.length);
  const opening = begun.length === 0 ? machine.create() : [];
  await persistence.finish([...opening, ...machine.fail(error)], machine.response);
}

/** The plan of a response, from its stored snapshot and log. */
function planOf(stored: StoredResponse, begun: readonly ResponseEvent[]): ResponsePlan {
  const snapshot = stored.snapshot as unknown as ResponseObject;
  const job = stored.request as unknown as GenerationJob | null;
  return {
    owner: stored.owner,
    initial: begun.length > 0 ? responseFromEvents(begun) : snapshot,
    context: [],
    toolSecrets: new Map(),
    inputItems: [],
    job: job ?? noJob,
    ignored: [],
  };
}

const noJob: GenerationJob = {
  chat: { isNamed: false, messages: [], parameters: {}, includeUsage: false, extra: {} },
  truncation: 'disabled',
  searchQuery: null,
  includeSearchResults: false,
  include: [],
  toolItems: [],
};

const dayMs = 24 * 60 * 60 * 1_000;
/** Limit for the bytes of all answers with an Idempotency-Key of one owner. */
const maxIdempotentBytes = 64 * 2 ** 20;
/** Answers whose cited passages are kept for later turns, over all owners. */
const maxCitingAnswers = 100_000;
const citingAnswersMs = 7 * 86_400_000;
const everyMs = 10 * 60 * 1_000;

/** Removes responses, chat completions, conversations and idempotent answers that are expired or exceed a limit. */
@Injectable()
export class Retention implements OnModuleInit, BeforeApplicationShutdown {
  #timer: NodeJS.Timeout | undefined;

  constructor(
    @Inject(ResponsesRepository) private readonly responses: ResponsesRepository,
    @Inject(StoredCompletionsRepository) private readonly completions: StoredCompletionsRepository,
    @Inject(ConversationsRepository) private readonly conversations: ConversationsRepository,
    @Inject(Database) private readonly database: Database,
    @Inject(gatewayEnvironment) private readonly environment: GatewayEnvironment,
  ) {}

  onModuleInit(): void {
    const logger = createLogger('gateway', this.environment.LOG_LEVEL);
    const attempt = () =>
      void this.removeOld().catch((error: unknown) =>
        logger.warn({ err: error as Error }, 'could not remove old responses'),
      );
    attempt();
    this.#timer = setInterval(attempt, everyMs).unref();
  }

  beforeApplicationShutdown(): void {
    clearInterval(this.#timer);
  }

  async removeOld(): Promise<void> {
    const { RESPONSES_TTL_DAYS: days, CONVERSATIONS_TTL_DAYS: conversationDays } = this.environment;
    if (conversationDays > 0) await this.conversations.deleteOlderThan(conversationDays * dayMs);
    for (const kept of [this.responses, this.completions]) {
      if (days > 0) await kept.deleteOlderThan(days * dayMs);
      await kept.deleteBeyond();
    }
    await new IdempotentAnswersRepository(this.database).deleteBeyond(dayMs, maxIdempotentBytes);
    await new RateCountsRepository(this.database).deleteOver();
    await new CitedPassagesRepository(this.database).deleteBeyond(citingAnswersMs, maxCitingAnswers);
  }
}
