import { createHash } from 'node:crypto';

/** The unit of the work of clients. */
export type WorkUnit = 'seconds' | 'tokens';

/** Clients with most work that are shown, and clients that are counted. */
const maxShown = 10;
const maxCounted = 1_000;

const work: Readonly<Record<WorkUnit, Map<string, number>>> = { seconds: new Map(), tokens: new Map() };

/** Adds work to a client's sum in this process. Beyond a thousand clients the one with the least work is forgotten. */
export function noteWork(unit: WorkUnit, client: string, amount: number): void {
  const sums = work[unit];
  sums.set(client, (sums.get(client) ?? 0) + amount);
  if (sums.size > maxCounted) sums.delete(byWork(sums).at(-1)![0]);
}

/** The work of the ten busiest clients since the start. Their names are hashes: metrics do not show keys or addresses. */
export function busiestClients(unit: WorkUnit): Record<string, number> {
  const busiest = byWork(work[unit]).slice(0, maxShown);
  return Object.fromEntries(busiest.map(([client, amount]) => [hashed(client), amount]));
}

function byWork(sums: ReadonlyMap<string, number>): [string, number][] {
  return [...sums].toSorted(([, left], [, right]) => right - left);
}

function hashed(client: string): string {
  return createHash('sha256').update(client).digest('hex').slice(0, 12);
}
