/** Log probabilities of each unit at each step: `values[step · width + unit]`. */
export interface LogProbabilities {
  values: Float32Array;
  steps: number;
  width: number;
}

/** Converts scores to log probabilities, in place, row by row. */
export function logSoftmax(scores: LogProbabilities): LogProbabilities {
  const { values, steps, width } = scores;
  for (let step = 0; step < steps; step += 1) {
    const row = values.subarray(step * width, (step + 1) * width);
    const highest = row.reduce((a, b) => Math.max(a, b), -Infinity);
    const sum = row.reduce((total, value) => total + Math.exp(value - highest), 0);
    const shift = highest + Math.log(sum);
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

/** Greedy search: the most probable unit of each step, without repetitions and blanks (Graves et al. 2006). */
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

/** Options of {@link beamSearch}. */
export interface BeamSearchOptions {
  blank: number;
  /** Number of prefixes that are kept at each step. */
  beams: number;
  /** Units with a lower log probability at a step are skipped. Default −7. */
  minLogProbability?: number;
  languageModel?: LanguageModelScores;
}

/** Weighted log probabilities that a language model adds to the score of a prefix. */
export interface LanguageModelScores {
  /** For a unit after others. Called once per prefix and unit. */
  next(units: readonly number[], next: number): number;
  /** For the end of the text after these units. */
  end(units: readonly number[]): number;
}

/** A prefix, and the log probabilities of all its paths that end in a blank and in its last unit. */
interface Prefix {
  units: readonly number[];
  last: number;
  afterBlank: number;
  afterUnit: number;
  /** Score of the language model. */
  language: number;
  /** Longer prefixes by their last unit, so that all paths to a prefix meet. */
  next: Map<number, Prefix>;
}

/** CTC prefix beam search (Hannun et al. 2014): returns the units with the most probable sum of paths. */
export function beamSearch(scores: LogProbabilities, options: BeamSearchOptions): number[] {
  const { blank, beams, minLogProbability = -7 } = options;
  let kept = [start()];
  for (let step = 0; step < scores.steps; step += 1) {
    const row = scores.values.subarray(step * scores.width, (step + 1) * scores.width);
    const tried = unitsAbove(row, minLogProbability);
    const reached = new Map<Prefix, { afterBlank: number; afterUnit: number }>();
    const add = (beginning: Prefix, afterBlank: number, afterUnit: number) => {
      const sums = reached.get(beginning) ?? { afterBlank: -Infinity, afterUnit: -Infinity };
      reached.set(beginning, {
        afterBlank: logAdd(sums.afterBlank, afterBlank),
        afterUnit: logAdd(sums.afterUnit, afterUnit),
      });
    };
    for (const beginning of kept) {
      const { afterBlank, afterUnit, last } = beginning;
      const any = logAdd(afterBlank, afterUnit);
      for (const unit of tried) {
        const score = row[unit]!;
        if (unit === blank) add(beginning, any + score, -Infinity);
        else if (unit === last) {
          add(beginning, -Infinity, afterUnit + score);
          add(extend(beginning, unit, options), -Infinity, afterBlank + score);
        } else add(extend(beginning, unit, options), -Infinity, any + score);
      }
    }
    kept = best(reached, beams);
  }
  return [...(whole(kept, options)?.units ?? [])];
}

/** The best prefix as a complete text, including the language model's score of its end. */
function whole(kept: readonly Prefix[], { languageModel }: BeamSearchOptions): Prefix | undefined {
  const scored = kept.map((beginning) => {
    const { afterBlank, afterUnit, language, units } = beginning;
    return { beginning, score: logAdd(afterBlank, afterUnit) + language + (languageModel?.end(units) ?? 0) };
  });
  return scored.toSorted((a, b) => b.score - a.score)[0]?.beginning;
}

function start(): Prefix {
  return { units: [], last: -1, afterBlank: 0, afterUnit: -Infinity, language: 0, next: new Map() };
}

function extend(beginning: Prefix, unit: number, { languageModel }: BeamSearchOptions): Prefix {
  let longer = beginning.next.get(unit);
  if (!longer) {
    const language = beginning.language + (languageModel?.next(beginning.units, unit) ?? 0);
    const units = [...beginning.units, unit];
    longer = { units, last: unit, afterBlank: -Infinity, afterUnit: -Infinity, language, next: new Map() };
    beginning.next.set(unit, longer);
  }
  return longer;
}

/** Units above the limit, and always the most probable one. */
function unitsAbove(row: Float32Array, minLogProbability: number): number[] {
  const units: number[] = [];
  let top = 0;
  for (let unit = 0; unit < row.length; unit += 1) {
    if (row[unit]! > row[top]!) top = unit;
    if (row[unit]! >= minLogProbability) units.push(unit);
  }
  return units.length > 0 ? units : [top];
}

function best(
  reached: ReadonlyMap<Prefix, { afterBlank: number; afterUnit: number }>,
  count: number,
): Prefix[] {
  const ranked = [...reached]
    .map(([beginning, sums]) => ({
      beginning,
      sums,
      score: logAdd(sums.afterBlank, sums.afterUnit) + beginning.language,
    }))
    .toSorted((a, b) => b.score - a.score)
    .slice(0, count);
  return ranked.map(({ beginning, sums }) => Object.assign(beginning, sums));
}

/** The time of a unit: steps from `start` to `end` (excluded), and its best log probability there. */
export interface AlignedUnit {
  unit: number;
  start: number;
  end: number;
  logProbability: number;
}

/**
 * Finds the most probable path that yields the given units (Viterbi, with optional blanks between units). Errors:
 * RangeError if the units need more steps.
 */
export function alignUnits(scores: LogProbabilities, units: readonly number[], blank: number): AlignedUnit[] {
  const { values, steps, width } = scores;
  if (units.length === 0) return [];
  const states = units.flatMap((unit) => [blank, unit]).concat(blank);
  // Distance of the best predecessor of each state: 0, 1 or 2 states.
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
  // The state of the previous step; an equal state extends the span.
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
