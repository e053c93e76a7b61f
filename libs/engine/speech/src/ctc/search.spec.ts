import { array, assert, constantFrom, float, property } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { alignUnits, beamSearch, greedySearch, logAdd, logSoftmax, type LogProbabilities } from './search.js';
import { CtcVocabulary } from './vocabulary.js';

const width = 3;
const scoresOf = (values: readonly number[]): LogProbabilities =>
  logSoftmax({ values: Float32Array.from(values), steps: values.length / width, width });
/** Rows of probabilities of blank, a, b. */
const probable = (...rows: number[][]) => scoresOf(rows.flat().map((value) => Math.log(value)));

const smallScores = array(float({ min: -4, max: 4, noNaN: true }), { minLength: 12, maxLength: 12 }).map(
  scoresOf,
);

/** Every path through the steps, with the units that it reads as. */
function paths({ values, steps }: LogProbabilities): { path: number[]; units: string; score: number }[] {
  let found: { path: number[]; score: number }[] = [{ path: [], score: 0 }];
  for (let step = 0; step < steps; step += 1)
    found = found.flatMap(({ path, score }) =>
      [0, 1, 2].map((unit) => ({ path: [...path, unit], score: score + values[step * width + unit]! })),
    );
  return found.map(({ path, score }) => ({
    path,
    score,
    units: path.filter((unit, index) => unit !== 0 && unit !== path[index - 1]).join(''),
  }));
}

describe('greedySearch', () => {
  it('leaves repetitions and blanks out, but not what a blank parts', () => {
    const scores = probable(
      [0.1, 0.8, 0.1],
      [0.1, 0.8, 0.1],
      [0.8, 0.1, 0.1],
      [0.1, 0.8, 0.1],
      [0.1, 0.1, 0.8],
    );
    expect(greedySearch(scores, 0)).toEqual([1, 1, 2]);
  });
});

describe('beamSearch', () => {
  it('finds the units whose paths together are the most probable', () => {
    assert(
      property(smallScores, (scores) => {
        const sums = new Map<string, number>();
        for (const { units, score } of paths(scores))
          sums.set(units, logAdd(sums.get(units) ?? -Infinity, score));
        const found = beamSearch(scores, { blank: 0, beams: 1_000, minLogProbability: -Infinity }).join('');
        expect(sums.get(found)).toBeCloseTo(Math.max(...sums.values()), 4);
      }),
      { numRuns: 100 },
    );
  });

  it('beats the best single path where many paths agree', () => {
    // The best path is all blanks (0.36); the paths to "a" sum up to 0.64.
    const scores = probable([0.6, 0.4, 1e-9], [0.6, 0.4, 1e-9]);
    expect(greedySearch(scores, 0)).toEqual([]);
    expect(beamSearch(scores, { blank: 0, beams: 4 })).toEqual([1]);
  });

  it('lets a language model decide between units that sound alike', () => {
    const scores = probable([0.02, 0.5, 0.48]);
    const next = (_units: readonly number[], unit: number) => (unit === 2 ? 0 : -1);
    const languageModel = { next, end: () => 0 };
    expect(beamSearch(scores, { blank: 0, beams: 4 })).toEqual([1]);
    expect(beamSearch(scores, { blank: 0, beams: 4, languageModel })).toEqual([2]);
  });

  it('asks the language model whether the text may end there', () => {
    const scores = probable([0.02, 0.5, 0.48]);
    const end = (units: readonly number[]) => (units.at(-1) === 1 ? -1 : 0);
    expect(beamSearch(scores, { blank: 0, beams: 4, languageModel: { next: () => 0, end } })).toEqual([2]);
  });
});

describe('alignUnits', () => {
  it('finds the most probable path that reads as the units', () => {
    assert(
      property(smallScores, constantFrom([1], [2], [1, 2], [2, 1], [1, 1], [1, 2, 1]), (scores, units) => {
        const best = paths(scores)
          .filter((path) => path.units === units.join(''))
          .reduce((a, b) => (b.score > a.score ? b : a));
        const aligned = alignUnits(scores, units, 0);
        const path = Array.from({ length: scores.steps }, () => 0);
        for (const { unit, start, end } of aligned) path.fill(unit, start, end);
        const score = path.reduce((sum, unit, step) => sum + scores.values[step * width + unit]!, 0);
        expect(aligned.map(({ unit }) => unit)).toEqual(units);
        expect(score).toBeCloseTo(best.score, 4);
      }),
      { numRuns: 200 },
    );
  });

  it('refuses more units than steps', () => {
    expect(() => alignUnits(probable([0.2, 0.4, 0.4]), [1, 2], 0)).toThrow(RangeError);
    expect(alignUnits(probable([0.2, 0.4, 0.4]), [], 0)).toEqual([]);
  });
});

describe('CtcVocabulary', () => {
  const spans = (...units: number[]) =>
    units.map((unit, index) => ({ unit, start: index, end: index + 1, logProbability: 0 }));
  const words = (vocabulary: CtcVocabulary, ...units: number[]) =>
    vocabulary.wordsOf(spans(...units)).map(({ text }) => text);

  it('begins words at marks, and at units between words', () => {
    const pieces = new CtcVocabulary({ '<blank>': 0, '▁he': 1, llo: 2, '▁you': 3 });
    expect(words(pieces, 1, 2, 3)).toEqual(['hello', 'you']);
    expect(words(pieces, 2, 3)).toEqual(['llo', 'you']);
    const letters = new CtcVocabulary({ '<pad>': 0, '|': 1, h: 2, i: 3 });
    expect(words(letters, 1, 2, 3, 1, 1, 2, 1)).toEqual(['hi', 'h']);
  });
});
