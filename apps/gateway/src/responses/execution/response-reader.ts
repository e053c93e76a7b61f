import { setTimeout as wait } from 'node:timers/promises';
import { MegaNestError } from '#contracts';
import { isTerminal, responseFromEvents, type ResponseEvent, type ResponseObject } from '#responses';
import { ResponseLeasesRepository, ResponsesRepository, type StoredResponse } from '#storage';
import { Inject, Injectable } from '@nestjs/common';
import { LeaseLostError } from './persistence.js';
import { ResponseRuns } from './response-runs.js';

/** How often the log of a response that another gateway makes is read. */
const pollMs = 150;

/** Finds responses and their logs, whether this process makes them, another one does, or they are finished. */
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

  /** The response as it is now. Errors: not_found. */
  async snapshot(owner: string, id: string): Promise<ResponseObject> {
    const run = this.runs.find(owner, id);
    if (run?.isStored) return run.response;
    const stored = await this.stored(owner, id);
    const snapshot = stored.snapshot as unknown as ResponseObject;
    if (stored.finished) return snapshot;
    const events = await this.#read(id, -1);
    return events.length > 0 ? responseFromEvents(events) : snapshot;
  }

  /** The log behind a sequence number, then what comes, until its end. Errors: not_found. */
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

  /** Reads the log of a run in this process; where that was taken away from it, and for all others, the stored one. */
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
      // Asked before the log is read: what is finished by then is in the log completely.
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
