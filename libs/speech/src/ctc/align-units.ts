import type { LogProbabilities } from './log-probabilities.js';

/** Where a unit was heard: steps from `start` to `end` (excluded), and its best logarithm of a probability there. */
export interface AlignedUnit {
  unit: number;
  start: number;
  end: number;
  logProbability: number;
}

/**
 * The most probable path through the steps that reads as the given units (Viterbi over units with optional blanks between
 * them). Errors: RangeError where there are fewer steps than the units need.
 */
export function alignUnits(scores: LogProbabilities, units: readonly number[], blank: number): AlignedUnit[] {
  const { values, steps, width } = scores;
  if (units.length === 0) return [];
  const states = units.flatMap((unit) => [blank, unit]).concat(blank);
  // How many states back the best way into each state came from: 0, 1 or 2.
  const back = new Uint8Array(steps * states.length);
  let before = new Float64Array(states.length).fill(-Infinity);
  before[0] = values[blank]!;
  before[1] = values[states[1]!]!;
  for (let step = 1; step < steps; step += 1) {
    const now = new Float64Array(states.length);
    for (const [state, unit] of states.entries()) {
      let way = 0;
      if (state > 0 && before[state - 1]! > before[state]!) way = 1;
      const mayJump = state > 1 && unit !== blank && unit !== states[state - 2];
      if (mayJump && before[state - 2]! > before[state - way]!) way = 2;
      back[step * states.length + state] = way;
      now[state] = before[state - way]! + values[step * width + unit]!;
    }
    before = now;
  }
  const last = states.length - 1;
  const end = before[last - 1]! > before[last]! ? last - 1 : last;
  if (before[end] === -Infinity) throw new RangeError(`${units.length} units do not fit ${steps} steps`);
  return spansOf(scores, states, back, end);
}

function spansOf(
  { values, steps, width }: LogProbabilities,
  states: readonly number[],
  back: Uint8Array,
  end: number,
): AlignedUnit[] {
  const spans: AlignedUnit[] = [];
  let state = end;
  // The state of the step behind, of which a span goes on where it is the same.
  let behind = -1;
  for (let step = steps - 1; step >= 0; step -= 1) {
    const unit = states[state]!;
    const logProbability = values[step * width + unit]!;
    const open = state === behind ? spans.at(-1) : undefined;
    if (state % 2 === 1 && open) {
      open.start = step;
      open.logProbability = Math.max(open.logProbability, logProbability);
    } else if (state % 2 === 1) spans.push({ unit, start: step, end: step + 1, logProbability });
    behind = state;
    state -= back[step * states.length + state]!;
  }
  return spans.toReversed();
}
