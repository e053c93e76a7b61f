/** Limits of a batch. */
export interface BatchLimits {
  /** Maximum tokens of a batch, including padding. */
  readonly paddedTokens: number;
  /** Maximum ratio of the longest to the shortest sequence of a batch, e.g. 1.15. */
  readonly spread: number;
}

/**
 * Groups sequences by length to minimize padding. Returns the indexes into `lengths` of each batch, shortest
 * sequences first. A sequence longer than the limit gets a batch of its own.
 */
export function planBatches(lengths: readonly number[], limits: BatchLimits): number[][] {
  const order = lengths.map((_length, index) => index).sort((a, b) => lengths[a]! - lengths[b]!);
  const batches: number[][] = [];
  let batch: number[] = [];
  let shortest = 0;
  for (const index of order) {
    const length = lengths[index]!;
    const fits =
      length * (batch.length + 1) <= limits.paddedTokens && length <= Math.ceil(shortest * limits.spread);
    if (batch.length === 0 || !fits) {
      batch = [];
      batches.push(batch);
      shortest = length;
    }
    batch.push(index);
  }
  return batches;
}
