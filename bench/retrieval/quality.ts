/** How well rankings put the right passage in front. */
export interface Quality {
  recallAt1: number;
  recallAt5: number;
  /** Mean of 1/rank of the first right passage, 0 where it is not among the first ten. */
  meanReciprocalRank: number;
}

/** `ranks` holds, for each question, the rank of the first right passage from 1, or undefined where there is none. */
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

/** The value that half of the numbers stay below. */
export function median(numbers: readonly number[]): number {
  return numbers.toSorted((left, right) => left - right)[Math.floor(numbers.length / 2)] ?? Number.NaN;
}
