/** Natural logarithms of the probabilities of each unit at each step: `values[step · width + unit]`. */
export interface LogProbabilities {
  values: Float32Array;
  steps: number;
  width: number;
}

/** Scores before the softmax become logarithms of probabilities, in place, row by row. */
export function logSoftmax(scores: LogProbabilities): LogProbabilities {
  const { values, steps, width } = scores;
  for (let step = 0; step < steps; step += 1) {
    const row = values.subarray(step * width, (step + 1) * width);
    const most = row.reduce((a, b) => Math.max(a, b), -Infinity);
    const sum = row.reduce((total, value) => total + Math.exp(value - most), 0);
    const shift = most + Math.log(sum);
    for (let unit = 0; unit < width; unit += 1) row[unit]! -= shift;
  }
  return scores;
}

/** ln(eᵃ + eᵇ) without overflow. */
export function logAdd(a: number, b: number): number {
  if (a === -Infinity) return b;
  if (b === -Infinity) return a;
  return a > b ? a + Math.log1p(Math.exp(b - a)) : b + Math.log1p(Math.exp(a - b));
}
