import type { Database } from '../database.js';
import { responseColumns, type EventRecord, type StoredResponse } from './stored-response.js';
import { writeEvents } from './response-items.repository.js';

/** The lease of one run of a response: no other run has its owner, also none of the same process. */
export interface Lease {
  id: string;
  owner: string;
}

/** A response that the caller still holds, and whether somebody wants it stopped. */
export interface HeldLease {
  id: string;
  cancelRequested: boolean;
}

const heldLeases = 'unnest($1::text[], $2::text[]) AS held (id, owner)';
const isHeld = 'responses.id = held.id AND lease_owner = held.owner AND finished_at IS NULL';

function columnsOf(leases: readonly Lease[]): [string[], string[]] {
  return [leases.map(({ id }) => id), leases.map(({ owner }) => owner)];
}

/**
 * Who works on which unfinished response. A lease is held by a heartbeat; one that ran out may be claimed by any
 * process. Whatever a run writes, it writes only while the lease is its own: two never write one log, also where a process
 * takes up what it had lost.
 */
export class ResponseLeasesRepository {
  constructor(private readonly database: Database) {}

  /** Prolongs leases; answers those that are still held. */
  async heartbeat(leases: readonly Lease[], leaseMs: number): Promise<HeldLease[]> {
    return this.database.query<HeldLease>(
      `UPDATE responses SET lease_until = now() + make_interval(secs => $3)
       FROM ${heldLeases} WHERE ${isHeld} RETURNING responses.id, cancel_requested AS "cancelRequested"`,
      [...columnsOf(leases), leaseMs / 1_000],
    );
  }

  /**
   * Takes unfinished responses whose lease ran out, oldest first, but for those that the caller still works on: after
   * an outage of the database its own leases may have run out too. The request of each counts how often that happened to it.
   */
  async claimExpired(
    leaseOwner: string,
    leaseMs: number,
    { limit, working }: { limit: number; working: readonly string[] },
  ): Promise<StoredResponse[]> {
    return this.database.query<StoredResponse>(
      `UPDATE responses SET lease_owner = $1, lease_until = now() + make_interval(secs => $2),
         request = jsonb_set(request::jsonb, '{takeovers}',
           to_jsonb(coalesce((request->>'takeovers')::int, 0) + 1))::json
       WHERE id IN (SELECT id FROM responses WHERE finished_at IS NULL AND lease_until < now() AND id <> ALL($4)
                    ORDER BY created_at LIMIT $3 FOR UPDATE SKIP LOCKED)
       RETURNING ${responseColumns}`,
      [leaseOwner, leaseMs / 1_000, limit, working],
    );
  }

  /**
   * Gives leases up at once, so that another process need not wait: a stopping process does, for what it hands over. The
   * claim that follows does not count, because that process was not lost.
   */
  async release(leases: readonly Lease[]): Promise<void> {
    await this.database.execute(
      `UPDATE responses SET lease_until = now(),
         request = jsonb_set(request::jsonb, '{takeovers}',
           to_jsonb(coalesce((request->>'takeovers')::int, 0) - 1))::json
       FROM ${heldLeases} WHERE ${isHeld}`,
      columnsOf(leases),
    );
  }

  /** Asks whoever works on a response to stop; false where it is finished or unknown. */
  async requestCancel(owner: string, id: string): Promise<boolean> {
    const touched = await this.database.execute(
      'UPDATE responses SET cancel_requested = true WHERE id = $1 AND owner = $2 AND finished_at IS NULL',
      [id, owner],
    );
    return touched > 0;
  }

  /** Appends to a log; false, and nothing written, where the lease is no longer the caller's. */
  async appendEvents(
    id: string,
    leaseOwner: string,
    events: readonly EventRecord[],
    status: string,
  ): Promise<boolean> {
    return this.database.transaction(async (transaction) => {
      const held = await transaction.execute(
        'UPDATE responses SET status = $3 WHERE id = $1 AND lease_owner = $2 AND finished_at IS NULL',
        [id, leaseOwner, status],
      );
      if (held === 0) return false;
      await writeEvents(transaction, id, events);
      return true;
    });
  }

  /** What is written of a log behind sequence number `startingAfter` (-1: all). */
  async readEvents(id: string, startingAfter = -1): Promise<EventRecord[]> {
    const rows = await this.database.query<{ events: EventRecord[] }>(
      `SELECT events FROM response_events WHERE response_id = $1 AND last_sequence > $2 ORDER BY first_sequence`,
      [id, startingAfter],
    );
    return rows
      .flatMap(({ events }) => events)
      .filter(({ sequence_number }) => sequence_number > startingAfter);
  }
}
