import { logAdd, type LogProbabilities } from './log-probabilities.js';

export interface BeamSearchOptions {
  blank: number;
  /** Beginnings that are kept at each step. */
  beams: number;
  /** Units of a step below this logarithm of a probability are not tried. Default −7. */
  least?: number;
  languageModel?: LanguageModelScores;
}

/** What a language model adds to the score of a beginning, as logarithms that are weighed already. */
export interface LanguageModelScores {
  /** When a unit follows others. It is asked once for each beginning and unit. */
  next(units: readonly number[], next: number): number;
  /** When these units are the whole text. */
  end(units: readonly number[]): number;
}

/** A beginning, and the logarithms of the probabilities of all paths to it that end in a blank or in its last unit. */
interface Beginning {
  units: readonly number[];
  last: number;
  afterBlank: number;
  afterUnit: number;
  /** Of the language model alone. */
  language: number;
  /** Longer beginnings by their last unit, so that all paths to one meet. */
  next: Map<number, Beginning>;
}

/** CTC prefix beam search (Hannun et al. 2014): the units whose paths together are the most probable. */
export function beamSearch(scores: LogProbabilities, options: BeamSearchOptions): number[] {
  const { blank, beams, least = -7 } = options;
  let kept = [start()];
  for (let step = 0; step < scores.steps; step += 1) {
    const row = scores.values.subarray(step * scores.width, (step + 1) * scores.width);
    const tried = unitsAbove(row, least);
    const reached = new Map<Beginning, { afterBlank: number; afterUnit: number }>();
    const add = (beginning: Beginning, afterBlank: number, afterUnit: number) => {
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

/** The best one as a whole text: one that stops in the middle of a word is less likely than its probability so far. */
function whole(kept: readonly Beginning[], { languageModel }: BeamSearchOptions): Beginning | undefined {
  const scored = kept.map((beginning) => {
    const { afterBlank, afterUnit, language, units } = beginning;
    return { beginning, score: logAdd(afterBlank, afterUnit) + language + (languageModel?.end(units) ?? 0) };
  });
  return scored.toSorted((a, b) => b.score - a.score)[0]?.beginning;
}

function start(): Beginning {
  return { units: [], last: -1, afterBlank: 0, afterUnit: -Infinity, language: 0, next: new Map() };
}

function extend(beginning: Beginning, unit: number, { languageModel }: BeamSearchOptions): Beginning {
  let longer = beginning.next.get(unit);
  if (!longer) {
    const language = beginning.language + (languageModel?.next(beginning.units, unit) ?? 0);
    const units = [...beginning.units, unit];
    longer = { units, last: unit, afterBlank: -Infinity, afterUnit: -Infinity, language, next: new Map() };
    beginning.next.set(unit, longer);
  }
  return longer;
}

/** Those above the bound, and the most probable one in any case. */
function unitsAbove(row: Float32Array, least: number): number[] {
  const units: number[] = [];
  let top = 0;
  for (let unit = 0; unit < row.length; unit += 1) {
    if (row[unit]! > row[top]!) top = unit;
    if (row[unit]! >= least) units.push(unit);
  }
  return units.length > 0 ? units : [top];
}

function best(
  reached: ReadonlyMap<Beginning, { afterBlank: number; afterUnit: number }>,
  count: number,
): Beginning[] {
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
