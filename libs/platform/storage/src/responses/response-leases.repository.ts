import type { Database } from '../database.js';
import { responseColumns, type EventRecord, type StoredResponse } from './stored-response.js';
import { writeEvents } from './response-items.repository.js';

/** The lease of one run of a response. Its owner is unique to the run, also within a process. */
export interface Lease {
  id: string;
  owner: string;
}

/** A response whose lease the caller still has, and whether a cancellation was requested. */
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
 * The leases of unfinished responses. A heartbeat renews a lease; any process may claim an expired one. A run writes
 * only while it has the lease, so two runs never write one log, even if a process takes over a response that it had
 * lost.
 */
export class ResponseLeasesRepository {
  constructor(private readonly database: Database) {}

  /** Renews leases; returns the ones that the caller still has. */
  async heartbeat(leases: readonly Lease[], leaseMs: number): Promise<HeldLease[]> {
    return this.database.query<HeldLease>(
      `UPDATE responses SET lease_until = now() + make_interval(secs => $3)
       FROM ${heldLeases} WHERE ${isHeld} RETURNING responses.id, cancel_requested AS "cancelRequested"`,
      [...columnsOf(leases), leaseMs / 1_000],
    );
  }

  /**
   * Claims unfinished responses with an expired lease, oldest first, except the caller's running responses: after an
   * outage of the database its own leases may have expired too. The request of each counts its claims.
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
   * Releases leases at once, so that another process does not have to wait; a stopping process calls it. The next claim
   * is not counted, because the process did not fail.
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

  /** Asks the process that works on a response to stop; false if the response is finished or unknown. */
  async requestCancel(owner: string, id: string): Promise<boolean> {
    const touched = await this.database.execute(
      'UPDATE responses SET cancel_requested = true WHERE id = $1 AND owner = $2 AND finished_at IS NULL',
      [id, owner],
    );
    return touched > 0;
  }

  /** Appends to a log; false, without writing, if the caller has lost the lease. */
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

  /** Returns the written events of a log after sequence number `startingAfter` (-1: all). */
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
