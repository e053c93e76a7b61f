import { timestampStep } from './whisper-segments.js';

/** The network's attention is steadier over so many steps of time (Radford et al.: median filter of 7). */
const medianWidth = 7;

/**
 * When each token of a window is said, in seconds: heads of the decoder that follow the audio are normalised, smoothed
 * and averaged, and the cheapest monotonic path through tokens and time is taken (dynamic time warping). `rows`: for each
 * token, heads × source positions; `positions`: those that hold audio. Gives as many times as rows.
 */
export function tokenTimes(rows: readonly Float32Array[], source: number, positions: number): number[] {
  if (rows.length === 0) return [];
  const used = Math.max(1, Math.min(source, positions));
  const cost = new Float64Array(rows.length * used);
  const heads = rows[0]!.length / source;
  for (let head = 0; head < heads; head++) addHead(cost, rows, { offset: head * source, used });
  return pathStarts(cost, rows.length, used).map((position) => position * timestampStep);
}

/** Subtracts a head's attention from the cost: each position to mean 0 and deviation 1 over the tokens, then smoothed. */
function addHead(
  cost: Float64Array,
  rows: readonly Float32Array[],
  { offset, used }: { offset: number; used: number },
): void {
  const means = new Float64Array(used);
  const deviations = new Float64Array(used);
  for (let position = 0; position < used; position++) {
    let sum = 0;
    let squares = 0;
    for (const row of rows) sum += row[offset + position]!;
    const mean = sum / rows.length;
    for (const row of rows) squares += (row[offset + position]! - mean) ** 2;
    means[position] = mean;
    deviations[position] = Math.sqrt(squares / rows.length) || 1;
  }
  for (const [token, row] of rows.entries()) {
    const values = means.map((mean, position) => (row[offset + position]! - mean) / deviations[position]!);
    for (const [position, value] of smoothed(values).entries()) cost[token * used + position]! -= value;
  }
}

/** Medians of neighbourhoods; beyond the ends the values are mirrored. */
function smoothed(values: Float64Array): Float64Array {
  const half = (medianWidth - 1) / 2;
  const { length } = values;
  if (length <= half) return values;
  const at = (index: number) =>
    values[index < 0 ? -index : index >= length ? 2 * length - 2 - index : index]!;
  const window = new Float64Array(medianWidth);
  return values.map((_, center) => {
    for (let offset = -half; offset <= half; offset++) window[offset + half] = at(center + offset);
    return window.sort()[half]!;
  });
}

/** The first column of each row on the cheapest path from corner to corner by steps right, down or both. */
function pathStarts(cost: Float64Array, rows: number, columns: number): number[] {
  const width = columns + 1;
  const total = new Float64Array((rows + 1) * width).fill(Infinity);
  total[0] = 0;
  // Which way the best path came: 0 both, 1 down, 2 right.
  const way = new Uint8Array(total.length);
  for (let row = 1; row <= rows; row++)
    for (let column = 1; column <= columns; column++) {
      const at = row * width + column;
      const options = [total[at - width - 1]!, total[at - width]!, total[at - 1]!] as const;
      const best = options[0] < options[1] && options[0] < options[2] ? 0 : options[1] < options[2] ? 1 : 2;
      way[at] = best;
      total[at] = cost[(row - 1) * columns + column - 1]! + options[best];
    }
  const starts: number[] = Array<number>(rows).fill(0);
  for (let row = rows, column = columns; row > 0 && column > 0;) {
    starts[row - 1] = column - 1;
    const step = way[row * width + column];
    if (step !== 2) row -= 1;
    if (step !== 1) column -= 1;
  }
  return starts;
}
