/** Returns the quantile of numbers, e.g. 0.5 for the median; 0 for an empty array. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
}

/** A contender: `run` does the whole work once and returns the number of processed units. */
export interface Contender {
  readonly name: string;
  /** Prepares the next run; its time does not count. */
  readonly prepare?: () => Promise<void>;
  readonly run: () => Promise<number>;
}

export interface Result {
  readonly name: string;
  /** Medians over the rounds: units per second of wall clock, and per second of processor time of this process. */
  readonly perSecond: number;
  readonly perCpuSecond: number;
}

/**
 * Lets the contenders take turns, so that a busy machine slows all of them alike; the first turn of each does not
 * count.
 */
export async function interleave(contenders: readonly Contender[], rounds: number): Promise<Result[]> {
  const runs = contenders.map((): { wall: number; cpu: number }[] => []);
  for (let round = -1; round < rounds; round++) {
    for (const [index, { prepare, run }] of contenders.entries()) {
      await prepare?.();
      const measured = await measure(run);
      if (round >= 0) runs[index]!.push(measured);
    }
  }
  return contenders.map(({ name }, index) => ({
    name,
    perSecond: quantile(
      runs[index]!.map(({ wall }) => wall),
      0.5,
    ),
    perCpuSecond: quantile(
      runs[index]!.map(({ cpu }) => cpu),
      0.5,
    ),
  }));
}

async function measure(run: () => Promise<number>): Promise<{ wall: number; cpu: number }> {
  const cpuBefore = process.cpuUsage();
  const startedAt = performance.now();
  const units = await run();
  const wall = (performance.now() - startedAt) / 1000;
  const { user, system } = process.cpuUsage(cpuBefore);
  return { wall: units / wall, cpu: units / ((user + system) / 1e6) };
}
