import type { EnginePolicy } from '#platform/contracts';
import { twoOf } from './choices.js';
import { PrefixMemory } from './prefix-memory.js';

/** A server that may get a call. */
export interface Candidate {
  readonly id: string;
  /** Calls that run on it. */
  readonly load: number;
  /** Its share of the calls, in relation to the other ones; above 0. */
  readonly weight: number;
}

/** Chooses a server for each call. */
export interface Policy {
  /** `text`: the prompt. `candidates` has at least one entry; all of them can get the call. */
  choose<Item extends Candidate>(candidates: readonly Item[], text: string): Item;
}

/** Creates a policy with a state of its own. `random`: 0 to 1, below 1. */
export function createPolicy(name: EnginePolicy, random: () => number = Math.random): Policy {
  return makers[name](random);
}

const makers: Readonly<Record<EnginePolicy, (random: () => number) => Policy>> = {
  round_robin: () => new RoundRobin(),
  random: (random) => ({ choose: (candidates) => weighted(candidates, random) }),
  power_of_two: (random) => ({ choose: (candidates) => leastLoaded(twoOf(candidates, random), random) }),
  least_load: (random) => ({ choose: (candidates) => leastLoaded(candidates, random) }),
  cache_aware: (random) => new CacheAware(random),
  bucket: (random) => new Buckets(random),
};

/** The server with the fewest calls for its weight; a random one of several. */
function leastLoaded<Item extends Candidate>(candidates: readonly Item[], random: () => number): Item {
  const least = Math.min(...candidates.map(loadOf));
  const best = candidates.filter((one) => loadOf(one) === least);
  return best[Math.floor(random() * best.length)]!;
}

/** The calls for each unit of weight, with the new one. */
function loadOf({ load, weight }: Candidate): number {
  return (load + 1) / weight;
}

function weighted<Item extends Candidate>(candidates: readonly Item[], random: () => number): Item {
  let left = random() * candidates.reduce((sum, { weight }) => sum + weight, 0);
  for (const candidate of candidates) {
    left -= candidate.weight;
    if (left < 0) return candidate;
  }
  return candidates.at(-1)!;
}

/** Smooth weighted round robin, as in nginx: a server of weight 3 does not get three calls in a row. */
class RoundRobin implements Policy {
  readonly #current = new Map<string, number>();

  choose<Item extends Candidate>(candidates: readonly Item[]): Item {
    const total = candidates.reduce((sum, { weight }) => sum + weight, 0);
    const ids = new Set(candidates.map(({ id }) => id));
    for (const id of this.#current.keys()) if (!ids.has(id)) this.#current.delete(id);
    let best = candidates[0]!;
    for (const candidate of candidates) {
      const value = (this.#current.get(candidate.id) ?? 0) + candidate.weight;
      this.#current.set(candidate.id, value);
      if (value > this.#current.get(best.id)!) best = candidate;
    }
    this.#current.set(best.id, this.#current.get(best.id)! - total);
    return best;
  }
}

/** A server counts as too busy beyond this many calls, and this multiple, above the least busy one. */
const maxImbalance = { calls: 8, ratio: 1.5 };

function isBalanced(candidates: readonly Candidate[]): boolean {
  const loads = candidates.map(loadOf);
  const [least, most] = [Math.min(...loads), Math.max(...loads)];
  return most - least <= maxImbalance.calls || most <= least * maxImbalance.ratio;
}

/** The server that has read most of the prompt's beginning before, so that its prefix cache helps. */
class CacheAware implements Policy {
  readonly #memory = new PrefixMemory();

  constructor(private readonly random: () => number) {}

  choose<Item extends Candidate>(candidates: readonly Item[], text: string): Item {
    const known = isBalanced(candidates) ? this.#memory.find(text, candidates) : undefined;
    const chosen = known ?? leastLoaded(candidates, this.random);
    this.#memory.note(text, chosen.id);
    return chosen;
  }
}

/** Number of prompts whose lengths are known. */
const maxLengths = 512;

/**
 * Each server gets prompts of a range of lengths, so that short ones do not wait behind long ones. The ranges have the
 * same sum of characters, by the last prompts.
 */
class Buckets implements Policy {
  readonly #lengths: number[] = [];
  /** Upper borders of all ranges but the last one, for this number of servers. */
  #borders: { servers: number; upper: number[]; age: number } | undefined;

  constructor(private readonly random: () => number) {}

  choose<Item extends Candidate>(candidates: readonly Item[], text: string): Item {
    this.#lengths.push(text.length);
    if (this.#lengths.length > maxLengths) this.#lengths.shift();
    if (!isBalanced(candidates)) return leastLoaded(candidates, this.random);
    const ordered = [...candidates].sort((a, b) => (a.id < b.id ? -1 : 1));
    const upper = this.#upperBorders(ordered.length);
    const place = upper.findIndex((border) => text.length <= border);
    return ordered[place === -1 ? ordered.length - 1 : place]!;
  }

  #upperBorders(servers: number): number[] {
    const known = this.#borders;
    if (known && known.servers === servers && (known.age += 1) < 32) return known.upper;
    const sorted = [...this.#lengths].sort((a, b) => a - b);
    const share = sorted.reduce((sum, length) => sum + length, 0) / servers;
    const upper: number[] = [];
    let sum = 0;
    for (const [index, length] of sorted.entries()) {
      const target = share * (upper.length + 1);
      const isNearerBefore = target - sum < sum + length - target;
      sum += length;
      if (upper.length < servers - 1 && sum >= target)
        upper.push(isNearerBefore ? (sorted[index - 1] ?? length) : length);
    }
    this.#borders = { servers, upper, age: 0 };
    return upper;
  }
}
