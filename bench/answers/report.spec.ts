import { describe, expect, it } from 'vitest';
import { halfOf, type Half } from './questions.js';
import { report, type Judged } from './report.js';

/** Makes a judged question of a half. */
function judged(half: Half, type: string, verdict: Partial<Judged['verdict']>, serial = 0): Judged {
  const id = Array.from({ length: 64 }, (_unused, index) => `${type}-${serial}-${index}`).find(
    (each) => halfOf(each) === half,
  )!;
  return {
    question: {
      id,
      kind: `kind-of-${half}`,
      type,
      turns: ['?'],
      answers: ['x'],
      all: [],
      wrong: [],
      documents: [],
      code: false,
    },
    answer: { text: 'x', citations: [], milliseconds: 100, degraded: '' },
    verdict: {
      right: false,
      first: false,
      clean: false,
      prefaced: false,
      refused: false,
      words: 10,
      ...verdict,
    },
  };
}
const rowOf = (text: string, name: string) => text.split('\n').find((line) => line.startsWith(`| ${name} |`));

describe('report', () => {
  it('counts right answers, prefaces and wrong refusals of a type', () => {
    const text = report([
      judged('tune', 'fact', { right: true, first: true, clean: true }, 1),
      judged('tune', 'fact', { prefaced: true, refused: true, words: 20 }, 2),
    ]);
    expect(rowOf(text, 'fact')).toBe('| fact | 2 | 50% | 50% | 50% | 50% | 50% | 15 | 100 |');
    expect(text).toContain('of 1 answers without a preface 100% are right');
  });

  it('does not count a refusal of an unanswerable question as wrong', () => {
    const text = report([judged('tune', 'unanswerable', { right: true, refused: true, prefaced: true })]);
    const row = String.raw`**tune: unanswerable (right: refused)**`;
    expect(rowOf(text, row)).toBe(`| ${row} | 1 | 100% | 0% | 0% | 100% | 0% | 10 | 100 |`);
  });

  it('shows nothing of the held half but totals', () => {
    const text = report([
      judged('held', 'why', { right: true }),
      judged('held', 'follow-up', { right: true }),
    ]);
    expect(rowOf(text, '**held: questions**')).toContain('| 1 | 100% |');
    expect(rowOf(text, '**held: follow-ups**')).toContain('| 1 | 100% |');
    expect(text).not.toMatch(/\bwhy\b|kind-of-held/);
  });
});
