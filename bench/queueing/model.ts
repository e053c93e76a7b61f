/** One kind of work of each request, done by instances with a number of concurrent calls each. */
export interface Station {
  readonly name: string;
  readonly instances: number;
  /** Concurrent calls of an instance; further calls wait in its queue. */
  readonly workers: number;
  /** Measured times of one call, in milliseconds. */
  readonly times: readonly number[];
  /** The times belong to the requests in their order; otherwise each request takes one of them at random. */
  readonly inOrder?: boolean;
}

export interface Prediction {
  /** Completed requests per second, from the first arrival to the last end. */
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** Numbers between 0 and 1 that are the same for the same seed (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Arrival times in milliseconds of many independent clients (a Poisson process). */
export function arrivalsOf(count: number, perSecond: number, random: () => number): number[] {
  const times: number[] = [];
  let now = 0;
  for (let index = 0; index < count; index++) {
    now += (-Math.log(1 - random()) * 1_000) / perSecond;
    times.push(now);
  }
  return times;
}

/** Mean of numbers. */
export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Number of instances that keep the utilization of a station at most at this value. */
export function instancesFor(
  perSecond: number,
  station: Pick<Station, 'workers' | 'times'>,
  busy = 0.7,
): number {
  return Math.max(1, Math.ceil((perSecond * mean(station.times)) / 1_000 / (station.workers * busy)));
}

/** An instance: the times when its workers become free, and when its calls end. */
class Instance {
  private readonly freeAt: number[];
  private ends: number[] = [];

  constructor(workers: number) {
    this.freeAt = Array.from({ length: workers }, () => 0);
  }

  /** Number of calls at a time. */
  busy(now: number): number {
    this.ends = this.ends.filter((end) => end > now);
    return this.ends.length;
  }

  /** Takes a call, and returns when it will end. */
  take(now: number, ms: number): number {
    const free = Math.min(...this.freeAt);
    const end = Math.max(now, free) + ms;
    this.freeAt[this.freeAt.indexOf(free)] = end;
    this.ends.push(end);
    return end;
  }
}

/**
 * Sends requests through stations, one after the other, and returns when each ends. As in MegaNest a call goes to the less busy of two
 * random instances, and an instance processes its calls in order.
 */
export function simulate(
  stations: readonly Station[],
  arrivals: readonly number[],
  random: () => number,
): number[] {
  let times = arrivals.map((at, request) => ({ at, request }));
  for (const { instances, workers, times: samples, inOrder = false } of stations) {
    const all = Array.from({ length: instances }, () => new Instance(workers));
    const pick = () => all[Math.floor(random() * instances)]!;
    times = times
      .map(({ at, request }) => {
        const [first, second] = [pick(), pick()];
        const chosen = second.busy(at) < first.busy(at) ? second : first;
        const ms = samples[inOrder ? request % samples.length : Math.floor(random() * samples.length)]!;
        return { at: chosen.take(at, ms), request };
      })
      .sort((left, right) => left.at - right.at);
  }
  const ends: number[] = [];
  for (const { at, request } of times) ends[request] = at;
  return ends;
}

/** Throughput and latencies of these requests. */
export function summarize(arrivals: readonly number[], ends: readonly number[]): Prediction {
  const waits = ends.map((end, index) => end - arrivals[index]!).sort((left, right) => left - right);
  const at = (share: number) => waits[Math.min(waits.length - 1, Math.floor(share * waits.length))]!;
  const seconds = (ends.reduce((last, end) => Math.max(last, end), 0) - arrivals[0]!) / 1_000;
  return { perSecond: ends.length / seconds, p50Ms: at(0.5), p99Ms: at(0.99) };
}

/** The mean of several simulations. */
export function predict(stations: readonly Station[], arrivals: readonly number[], runs = 20): Prediction {
  const all = Array.from({ length: runs }, (_unused, seed) =>
    summarize(arrivals, simulate(stations, arrivals, seededRandom(seed + 1))),
  );
  return {
    perSecond: mean(all.map(({ perSecond }) => perSecond)),
    p50Ms: mean(all.map(({ p50Ms }) => p50Ms)),
    p99Ms: mean(all.map(({ p99Ms }) => p99Ms)),
  };
}
