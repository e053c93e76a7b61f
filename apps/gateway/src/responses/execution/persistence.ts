import { randomUUID } from 'node:crypto';
import { MegaNestError } from '#platform/contracts';
import { Sealer, type ResponseEvent, type ResponseObject } from '#api/responses';
import {
  ResponseLeasesRepository,
  ResponsesRepository,
  type EventRecord,
  type HeldLease,
  type JsonObject,
  type Lease,
  type NewStoredResponse,
  type ResponseEnd,
  type StoredResponse,
} from '#platform/storage';
import { retry } from '#platform/foundation';
import { Inject, Injectable } from '@nestjs/common';
import { gatewayEnvironment, type GatewayEnvironment } from '../../config/gateway.environment.js';
import type { ResponsePlan } from '../context/response-plan.js';
import { keptSecrets, openSecrets } from '../tools/mcp/mcp-entry.js';

/** Longest wait for an unavailable database before a response fails because it cannot be stored. */
const patienceMs = 15_000;
const pauseMs = 200;

/** Stores one response while it runs and after its end. It is chosen once, before the response starts. */
export interface Persistence {
  /** The response can be read by its id. */
  readonly isStored: boolean;
  /**
   * The response outlives its request and its process. It exists before its first token, an overloaded engine is
   * retried, and another process continues a response that this process cannot write.
   */
  readonly isDurable: boolean;
  /** Names the run in the response's lease. */
  readonly leaseOwner?: string;
  /** Called before the first event. Returns an earlier response with the request's idempotency key. */
  begin(): Promise<StoredResponse | undefined>;
  /** Called before readers see the events. Errors: LeaseLostError. */
  append(events: readonly ResponseEvent[], status: string): Promise<void>;
  /** Called before readers see the last events. Errors: LeaseLostError; service_unavailable. */
  finish(events: readonly ResponseEvent[], response: ResponseObject): Promise<void>;
}

/** Another process has taken the response over: this process must not write to it any more. */
export class LeaseLostError extends Error {
  override readonly name = 'LeaseLostError';
}

/** Stores nothing: `store: false`. */
export const ephemeral: Persistence = {
  isStored: false,
  isDurable: false,
  begin: () => Promise.resolve(undefined),
  append: () => Promise.resolve(),
  finish: () => Promise.resolve(),
};

/** The repositories that stored responses are written to. */
export interface ResponseTables {
  responses: ResponsesRepository;
  leases: ResponseLeasesRepository;
}

interface PersistenceOptions {
  /** Name of this run in leases; unique to it. */
  leaseOwner: string;
  leaseMs: number;
  idempotency?: { key: string; fingerprint: string };
  rowAtEnd?: boolean;
  /** Another process wrote the response's row. */
  isTakenOver?: boolean;
}

/**
 * Stores a response that its caller waits for: a row while it runs, and its log in one piece at its end. With
 * `rowAtEnd` the row is written at the end, too: a client cannot ask for a response before it knows the id.
 */
class StoredAtEnd implements Persistence {
  readonly isStored = true;
  readonly isDurable: boolean = false;
  readonly leaseOwner: string;
  readonly #events: ResponseEvent[] = [];

  constructor(
    protected readonly tables: ResponseTables,
    protected readonly plan: ResponsePlan,
    private readonly options: PersistenceOptions,
  ) {
    this.leaseOwner = options.leaseOwner;
  }

  async begin(): Promise<StoredResponse | undefined> {
    if (this.options.rowAtEnd || this.options.isTakenOver) return undefined;
    return this.tables.responses.insert(newStoredResponse(this.plan, this.options));
  }

  append(events: readonly ResponseEvent[], _status: string): Promise<void> {
    this.#events.push(...events);
    return Promise.resolve();
  }

  async finish(events: readonly ResponseEvent[], response: ResponseObject): Promise<void> {
    const end = endOf(response, [...this.#events, ...events]);
    const { leaseOwner, rowAtEnd } = this.options;
    const { responses } = this.tables;
    const written = await whileUnavailable(async () => {
      if (!rowAtEnd) return responses.finish(response.id, leaseOwner, end);
      await responses.insertFinished(newStoredResponse(this.plan, this.options), end);
      return true;
    });
    if (!written) throw new LeaseLostError(response.id);
  }
}

/** Stores a response that outlives its request: each event is written before it is shown. */
class Durable extends StoredAtEnd {
  override readonly isDurable = true;

  override async append(events: readonly ResponseEvent[], status: string): Promise<void> {
    const { id } = this.plan.initial;
    const written = await whileUnavailable(() =>
      this.tables.leases.appendEvents(id, this.leaseOwner, toRecords(events), status),
    );
    if (!written) throw new LeaseLostError(id);
  }
}

/**
 * Repeats `work` while the database is unavailable. A transaction waits for a database by itself. It does not repeat a
 * commit without an answer, and it fails at once where the disk is full or all connections are taken. `work` is
 * repeated in these cases.
 */
async function whileUnavailable<Result>(work: () => Promise<Result>): Promise<Result> {
  return retry({ isRetryable: isAway, firstMs: pauseMs, until: Date.now() + patienceMs }, work);
}

function isAway(error: unknown): boolean {
  return error instanceof MegaNestError && error.code === 'service_unavailable';
}

function newStoredResponse(plan: ResponsePlan, options: PersistenceOptions): NewStoredResponse {
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

/** The end of a response. Failed and cancelled responses are not added to the conversation. */
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

export interface PersistenceWish {
  idempotency?: PersistenceOptions['idempotency'];
  /** The response is sent in one piece, so that the client does not know its id before its end. */
  isSentWhole?: boolean;
}

/** Chooses the storage of responses, and renews the leases of running responses. */
@Injectable()
export class ResponsePersistence {
  constructor(
    @Inject(ResponsesRepository) private readonly responses: ResponsesRepository,
    @Inject(ResponseLeasesRepository) private readonly leases: ResponseLeasesRepository,
    @Inject(gatewayEnvironment) private readonly environment: GatewayEnvironment,
    @Inject(Sealer) private readonly sealer: Sealer,
  ) {}

  /** For a new response: durable for a background response, stored at its end with `store`, otherwise ephemeral. */
  choose(plan: ResponsePlan, { idempotency, isSentWhole = false }: PersistenceWish = {}): Persistence {
    const { store, background } = plan.initial;
    const options = { leaseOwner: randomUUID(), leaseMs: this.environment.RESPONSES_LEASE_MS, idempotency };
    const tables = this.#tables;
    if (background) return new Durable(tables, this.#withKeptSecrets(plan), options);
    if (!store) return ephemeral;
    return new StoredAtEnd(tables, plan, { ...options, rowAtEnd: isSentWhole && !idempotency });
  }

  /** For a response that another process began and that was claimed under `leaseOwner`. */
  takeOver(plan: ResponsePlan, leaseOwner: string): Persistence {
    const { RESPONSES_LEASE_MS: leaseMs } = this.environment;
    return new Durable(this.#tables, plan, { leaseOwner, leaseMs, isTakenOver: true });
  }

  /** The plan of a response that another process began, with the secrets of its tools. Errors: internal_error. */
  withSecrets(plan: ResponsePlan): ResponsePlan {
    const { owner, initial, job } = plan;
    const toolSecrets = openSecrets(job.toolSecrets, initial.tools, { sealer: this.sealer, owner });
    return { ...plan, toolSecrets };
  }

  /** Renews leases. Returns the leases that this process still holds. */
  renew(leases: readonly Lease[]): Promise<HeldLease[]> {
    return this.leases.heartbeat(leases, this.environment.RESPONSES_LEASE_MS);
  }

  /** Releases leases, so that any process can claim the responses. */
  release(leases: readonly Lease[]): Promise<void> {
    return this.leases.release(leases);
  }

  get #tables() {
    return { responses: this.responses, leases: this.leases };
  }

  #withKeptSecrets(plan: ResponsePlan): ResponsePlan {
    const { owner, job, toolSecrets: secrets } = plan;
    const keysAreElsewhere = this.environment.RESPONSES_ENCRYPTION_KEYS.length > 0;
    const toolSecrets = keptSecrets(secrets, { sealer: this.sealer, owner, keysAreElsewhere });
    return toolSecrets === undefined ? plan : { ...plan, job: { ...job, toolSecrets } };
  }
}
