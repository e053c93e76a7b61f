import type { LogProbabilities } from './log-probabilities.js';

/** The best unit of each step, repetitions and blanks left out (Graves et al. 2006). */
export function greedySearch({ values, steps, width }: LogProbabilities, blank: number): number[] {
  const units: number[] = [];
  let previous = blank;
  for (let step = 0; step < steps; step += 1) {
    let best = 0;
    for (let unit = 1; unit < width; unit += 1)
      if (values[step * width + unit]! > values[step * width + best]!) best = unit;
    if (best !== previous && best !== blank) units.push(best);
    previous = best;
  }
  return units;
}
