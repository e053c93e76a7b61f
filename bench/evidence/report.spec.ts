import { expect, it } from 'vitest';
import { halfOf, type Half } from '../answers/questions.js';
import { report, type Measured } from './report.js';

/** Makes a measurement of a half. */
function measured(half: Half, type: string, complete: boolean, queries = false): Measured {
  const id = Array.from({ length: 64 }, (_unused, index) => `${type}-${index}`).find(
    (each) => halfOf(each) === half,
  )!;
  return {
    question: { id, kind: `kind-of-${half}`, type },
    variant: { window: 8192, queries },
    verdict: { complete, told: false, missing: [], blocks: 4, tokens: 800 },
    milliseconds: 40,
    cpuMilliseconds: 60,
  };
}

it('counts the questions with all facts, for each window, type and kind', () => {
  const text = report([
    measured('tune', 'typo', true),
    measured('tune', 'list', false),
    measured('tune', 'list', true, true),
  ]);
  expect(text).toContain('| 8,192 | 2 | 50.0% | 0 | 800 | 4.0 | 40 | 40 | 60 |');
  expect(text).toContain('| list | 1 | 0.0% | 100.0% |');
  expect(text).toContain('| kind-of-tune | 2 | 50.0% | 100.0% |');
});

it('shows nothing of the held half but totals', () => {
  const text = report([measured('held', 'typo', true)]);
  expect(text).toContain('| 8,192 | 1 | 100.0% |');
  expect(text).not.toMatch(/typo|kind-of/);
});
