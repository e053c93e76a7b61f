import { createHash } from 'node:crypto';
import { MegaNestError, invalidField } from '#contracts';
import type { ResponseObject, ResponseRequest } from '#responses';
import type { HttpCall } from '#service-kit';
import { ResponseLeasesRepository, ResponsesRepository, type StoredResponse } from '#storage';
import { Inject, Injectable } from '@nestjs/common';
import type { ResponsePlan } from '../context/response-plan.js';
import { ResponsePlanner } from './response-planner.js';
import { ResponseReader, untilEnd } from './response-reader.js';
import type { ResponseRun } from './response-run.js';
import { ResponseRuns } from './response-runs.js';

const longestKey = 255;

/** What a request has led to: a response being made, or the one that its Idempotency-Key led to before. */
export type Created = { run: ResponseRun; plan: ResponsePlan } | { earlier: string };

/** Makes, cancels and deletes responses. */
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
   * Starts a response. Errors: those of planning; of the generation before its first token, for foreground ones;
   * conflict where the Idempotency-Key was used for another request.
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

  /** Waits for a foreground response. Errors: what made it fail; nothing is kept then. */
  async whole(run: ResponseRun): Promise<ResponseObject> {
    const response = await run.ended;
    if (!run.failure) return response;
    await this.responses.delete(run.owner, run.id).catch(() => undefined);
    throw run.failure;
  }

  /** Stops a response wherever it is made; a finished one is answered as it is. Errors: not_found. */
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
  if ((key?.length ?? 0) <= longestKey) return;
  throw invalidField('idempotency-key', `has more than ${longestKey} characters`);
}

function assertSameRequest(stored: StoredResponse, fingerprint: string | undefined): string {
  if (stored.fingerprint === fingerprint) return stored.id;
  const detail = 'This Idempotency-Key was used for another request.';
  throw new MegaNestError('conflict', { detail, param: 'idempotency-key' });
}

/** Two requests are the same where all but the ids that items were given here is equal. */
function fingerprintOf({ input, include, stream: _stream, ...rest }: ResponseRequest): string {
  const items = input.map((item) => (item.type === 'item_reference' ? item : { ...item, id: '' }));
  const text = JSON.stringify({ ...rest, input: items, include: [...include] });
  return createHash('sha256').update(text).digest('hex');
}
