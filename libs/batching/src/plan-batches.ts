export interface BatchLimits {
  /** Most tokens of a batch, padding included. */
  readonly paddedTokens: number;
  /** Longest over shortest sequence of a batch, e.g. 1.15. */
  readonly spread: number;
}

/**
 * Groups sequences by length, so that little is computed on padding: indexes into `lengths`, shortest first. A
 * sequence longer than the budget gets a batch of its own.
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
