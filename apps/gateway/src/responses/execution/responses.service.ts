import { invalidField, MegaNestError } from '#platform/contracts';
import {
  isTerminal,
  responseFromEvents,
  type ResponseEvent,
  type ResponseObject,
  type ResponseRequest,
} from '#api/responses';
import type { HttpCall } from '#platform/service-kit';
import { ResponseLeasesRepository, ResponsesRepository, type StoredResponse } from '#platform/storage';
import { Inject, Injectable } from '@nestjs/common';
import { createHash } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { ResponsePlan } from '../context/response-plan.js';
import { LeaseLostError } from './persistence.js';
import { ResponsePlanner } from './response-planner.js';
import type { ResponseRun } from './response-run.js';
import { ResponseRuns } from './response-runs.js';

/** Milliseconds between reads of the log of a response that another gateway generates. */
const pollMs = 150;

/** Finds responses and their logs, whether this process or another one generates them, or they are finished. */
@Injectable()
export class ResponseReader {
  constructor(
    @Inject(ResponseRuns) private readonly runs: ResponseRuns,
    @Inject(ResponsesRepository) private readonly responses: ResponsesRepository,
    @Inject(ResponseLeasesRepository) private readonly leases: ResponseLeasesRepository,
  ) {}

  /** Errors: not_found. */
  async stored(owner: string, id: string): Promise<StoredResponse> {
    const found = await this.responses.find(owner, id);
    if (found) return found;
    throw new MegaNestError('not_found', { what: `The response ${id}`, param: 'response_id' });
  }

  /** The current response object. Errors: not_found. */
  async snapshot(owner: string, id: string): Promise<ResponseObject> {
    const run = this.runs.find(owner, id);
    if (run?.isStored) return run.response;
    const stored = await this.stored(owner, id);
    const snapshot = stored.snapshot as unknown as ResponseObject;
    if (stored.finished) return snapshot;
    const events = await this.#read(id, -1);
    return events.length > 0 ? responseFromEvents(events) : snapshot;
  }

  /** The events after a sequence number, then new events until the end of the response. Errors: not_found. */
  async follow(
    owner: string,
    id: string,
    startingAfter: number,
    signal: AbortSignal,
  ): Promise<AsyncGenerator<ResponseEvent>> {
    const run = this.runs.find(owner, id);
    if (!run?.isStored) await this.stored(owner, id);
    return this.#follow({ owner, id, startingAfter, signal });
  }

  /** Reads the log of a run in this process. Reads the stored log of other runs, and of a run that lost its lease. */
  async *#follow({ owner, id, startingAfter, signal }: FollowOptions): AsyncGenerator<ResponseEvent> {
    let last = startingAfter;
    try {
      for await (const event of this.runs.find(owner, id)?.log.follow(last, signal) ?? []) {
        last = event.sequence_number;
        yield event;
        if (isTerminal(event)) return;
      }
    } catch (error) {
      if (!(error instanceof LeaseLostError)) throw error;
    }
    yield* this.#followStored({ owner, id, startingAfter: last, signal });
  }

  async *#followStored({ owner, id, startingAfter, signal }: FollowOptions): AsyncGenerator<ResponseEvent> {
    let last = startingAfter;
    while (!signal.aborted) {
      // Asked before the log is read: the log of a response that is finished by then is complete.
      const { finished } = await this.stored(owner, id);
      for (const event of await this.#read(id, last)) {
        last = event.sequence_number;
        yield event;
      }
      if (finished) return;
      await wait(pollMs);
    }
  }

  async #read(id: string, startingAfter: number): Promise<ResponseEvent[]> {
    return (await this.leases.readEvents(id, startingAfter)) as unknown as ResponseEvent[];
  }
}

interface FollowOptions {
  owner: string;
  id: string;
  startingAfter: number;
  signal: AbortSignal;
}

/** Waits until a log has ended. */
export async function untilEnd(events: AsyncIterator<ResponseEvent>): Promise<void> {
  while (!(await events.next()).done);
}

const maxKeyLength = 255;

/** The result of a request: a running response, or the id of the earlier response with the same Idempotency-Key. */
export type Created = { run: ResponseRun; plan: ResponsePlan } | { earlier: string };

/** Creates, cancels and deletes responses. */
@Injectable()
export class ResponsesService {
  constructor(
    @Inject(ResponsePlanner) private readonly planner: ResponsePlanner,
    @Inject(ResponseRuns) private readonly runs: ResponseRuns,
    @Inject(ResponseReader) private readonly reader: ResponseReader,
    @Inject(ResponsesRepository) private readonly responses: ResponsesRepository,
    @Inject(ResponseLeasesRepository) private readonly leases: ResponseLeasesRepository,
  ) {}

  /**
   * Starts a response. Errors: the errors of planning; for a foreground response, the errors of the generation before
   * its first token; conflict where the Idempotency-Key was used for another request.
   */
  async create(
    owner: string,
    request: ResponseRequest,
    call: HttpCall,
    idempotencyKey?: string,
  ): Promise<Created> {
    assertKeyLength(idempotencyKey);
    const { store } = request.settings;
    const key = store ? idempotencyKey : undefined;
    const idempotency = key === undefined ? undefined : { key, fingerprint: fingerprintOf(request) };
    const earlier = idempotency && (await this.#earlier(owner, idempotency));
    if (earlier) return { earlier };
    const plan = await this.planner.plan(owner, request, { call });
    if (!store && idempotencyKey !== undefined) plan.ignored.push('idempotency-key');
    const started = await this.runs.start(plan, { call, idempotency, isSentWhole: !request.stream });
    if ('earlier' in started)
      return { earlier: assertSameRequest(started.earlier, idempotency?.fingerprint) };
    return { run: started.run, plan };
  }

  /** Waits for a foreground response. Errors: the error that made it fail; then nothing is stored. */
  async whole(run: ResponseRun): Promise<ResponseObject> {
    const response = await run.ended;
    if (!run.failure) return response;
    await this.responses.delete(run.owner, run.id).catch(() => undefined);
    throw run.failure;
  }

  /** Stops a response in any process. Returns a finished response unchanged. Errors: not_found. */
  async cancel(owner: string, id: string, signal: AbortSignal): Promise<ResponseObject> {
    const run = this.runs.find(owner, id);
    if (run) return run.cancel();
    const { finished } = await this.reader.stored(owner, id);
    if (!finished && (await this.leases.requestCancel(owner, id)))
      await untilEnd(await this.reader.follow(owner, id, -1, signal));
    return this.reader.snapshot(owner, id);
  }

  /** Errors: not_found. */
  async delete(owner: string, id: string): Promise<void> {
    const run = this.runs.find(owner, id);
    if (run?.isStored) await run.cancel().catch(() => undefined);
    if (!(await this.responses.delete(owner, id)))
      throw new MegaNestError('not_found', { what: `The response ${id}`, param: 'response_id' });
  }

  async #earlier(
    owner: string,
    { key, fingerprint }: { key: string; fingerprint: string },
  ): Promise<string | undefined> {
    const stored = await this.responses.findByKey(owner, key);
    return stored && assertSameRequest(stored, fingerprint);
  }
}

function assertKeyLength(key: string | undefined): void {
  if ((key?.length ?? 0) <= maxKeyLength) return;
  throw invalidField('idempotency-key', `has more than ${maxKeyLength} characters`);
}

function assertSameRequest(stored: StoredResponse, fingerprint: string | undefined): string {
  if (stored.fingerprint === fingerprint) return stored.id;
  const detail = 'This Idempotency-Key was used for another request.';
  throw new MegaNestError('conflict', { detail, param: 'idempotency-key' });
}

/** Two requests are the same where they are equal except for the ids that the gateway gave to items. */
function fingerprintOf({ input, include, stream: _stream, ...rest }: ResponseRequest): string {
  const items = input.map((item) => (item.type === 'item_reference' ? item : { ...item, id: '' }));
  const text = JSON.stringify({ ...rest, input: items, include: [...include] });
  return createHash('sha256').update(text).digest('hex');
}
