/** Quality of rankings. */
export interface Quality {
  recallAt1: number;
  recallAt5: number;
  /** Mean of 1/rank of the first right passage; 0 if it is not among the first ten. */
  meanReciprocalRank: number;
}

/** `ranks`: for each question the rank of the first right passage, from 1, or undefined if it was not found. */
export function qualityOf(ranks: readonly (number | undefined)[]): Quality {
  const share = (limit: number) =>
    ranks.filter((rank) => rank !== undefined && rank <= limit).length / ranks.length;
  const reciprocals = ranks.map((rank) => (rank !== undefined && rank <= 10 ? 1 / rank : 0));
  return {
    recallAt1: share(1),
    recallAt5: share(5),
    meanReciprocalRank: reciprocals.reduce((sum, value) => sum + value, 0) / ranks.length,
  };
}

/** Returns the median. */
export function median(numbers: readonly number[]): number {
  return numbers.toSorted((left, right) => left - right)[Math.floor(numbers.length / 2)] ?? Number.NaN;
}
