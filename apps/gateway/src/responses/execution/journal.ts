import type { ResponseEvent, ResponseObject } from '#responses';
import {
  ResponseLeasesRepository,
  ResponsesRepository,
  type EventRecord,
  type JsonObject,
  type NewStoredResponse,
  type ResponseEnd,
  type StoredResponse,
} from '#storage';
import type { ResponsePlan } from '../context/response-plan.js';
import { whileUnavailable } from './retry.js';

/** Longest wait for a database that is away before a response fails because it cannot be kept. */
const patienceMs = 15_000;

/** Where a response is kept while it runs and after it ended. */
export interface Journal {
  /** True where others may find the response by its id. */
  readonly stored: boolean;
  /** Names the run in the response's lease. */
  readonly leaseOwner?: string;
  /** Before the first event; answers an earlier response that has the request's idempotency key. */
  begin(): Promise<StoredResponse | undefined>;
  /** Before readers see the events. Errors: LeaseLostError. */
  append(events: readonly ResponseEvent[], status: string): Promise<void>;
  /** Before readers see the last events. Errors: LeaseLostError; service_unavailable. */
  finish(events: readonly ResponseEvent[], response: ResponseObject): Promise<void>;
}

/** Another process has taken the response over: this one must not say anything more about it. */
export class LeaseLostError extends Error {
  override readonly name = 'LeaseLostError';
}

/** `store: false` leaves nothing behind. */
export const noJournal: Journal = {
  stored: false,
  begin: () => Promise.resolve(undefined),
  append: () => Promise.resolve(),
  finish: () => Promise.resolve(),
};

export interface JournalOptions {
  /** Of this run alone. */
  leaseOwner: string;
  leaseMs: number;
  idempotency?: { key: string; fingerprint: string };
}

/**
 * A response that somebody waits for: a row while it runs, its log in one piece at its end. With `atEndOnly` the row
 * too: nobody can ask for a response whose id is not known yet.
 */
export class ForegroundJournal implements Journal {
  readonly stored = true;
  readonly leaseOwner: string;
  readonly #events: ResponseEvent[] = [];

  constructor(
    private readonly responses: ResponsesRepository,
    private readonly plan: ResponsePlan,
    private readonly options: JournalOptions & { atEndOnly: boolean },
  ) {
    this.leaseOwner = options.leaseOwner;
  }

  async begin(): Promise<StoredResponse | undefined> {
    if (this.options.atEndOnly) return undefined;
    return this.responses.insert(newStoredResponse(this.plan, this.options));
  }

  append(events: readonly ResponseEvent[]): Promise<void> {
    this.#events.push(...events);
    return Promise.resolve();
  }

  async finish(events: readonly ResponseEvent[], response: ResponseObject): Promise<void> {
    const end = endOf(response, [...this.#events, ...events]);
    const { leaseOwner, atEndOnly } = this.options;
    const written = await whileUnavailable(async () => {
      if (!atEndOnly) return this.responses.finish(response.id, leaseOwner, end);
      await this.responses.insertFinished(newStoredResponse(this.plan, this.options), end);
      return true;
    }, patienceMs);
    if (!written) throw new LeaseLostError(response.id);
  }
}

/** A response that outlives its request: whatever is said of it is written first. */
export class BackgroundJournal implements Journal {
  readonly stored = true;
  readonly leaseOwner: string;

  constructor(
    private readonly responses: ResponsesRepository,
    private readonly leases: ResponseLeasesRepository,
    private readonly plan: ResponsePlan,
    private readonly options: JournalOptions,
  ) {
    this.leaseOwner = options.leaseOwner;
  }

  begin(): Promise<StoredResponse | undefined> {
    return this.responses.insert(newStoredResponse(this.plan, this.options));
  }

  async append(events: readonly ResponseEvent[], status: string): Promise<void> {
    const { id } = this.plan.initial;
    const written = await whileUnavailable(
      () => this.leases.appendEvents(id, this.options.leaseOwner, toRecords(events), status),
      patienceMs,
    );
    if (!written) throw new LeaseLostError(id);
  }

  async finish(events: readonly ResponseEvent[], response: ResponseObject): Promise<void> {
    const end = endOf(response, events);
    const written = await whileUnavailable(
      () => this.responses.finish(response.id, this.options.leaseOwner, end),
      patienceMs,
    );
    if (!written) throw new LeaseLostError(response.id);
  }
}

function newStoredResponse(plan: ResponsePlan, options: JournalOptions): NewStoredResponse {
  const { initial, owner, inputItems, job } = plan;
  return {
    id: initial.id,
    owner,
    previousResponseId: initial.previous_response_id,
    conversationId: initial.conversation?.id ?? null,
    status: initial.status,
    background: initial.background,
    snapshot: toJson(initial),
    request: initial.background ? toJson(job) : null,
    inputItems,
    lease: { owner: options.leaseOwner, ms: options.leaseMs },
    idempotency: options.idempotency,
  };
}

/** A conversation gets what was asked and answered, not what failed or was stopped. */
function endOf(response: ResponseObject, events: readonly ResponseEvent[]): ResponseEnd {
  return {
    status: response.status,
    snapshot: toJson(response),
    outputItems: response.output.map((item) => ({ ...item })),
    joinsConversation: response.status === 'completed' || response.status === 'incomplete',
    events: toRecords(events),
  };
}

function toJson(value: object): JsonObject {
  return value as JsonObject;
}

function toRecords(events: readonly ResponseEvent[]): EventRecord[] {
  return events.map((event) => ({ ...event }));
}
