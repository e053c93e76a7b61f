import { describe, expect, it } from 'vitest';
import { blocksOf, judge } from './judge.js';

const prompt = (evidence: string) => [
  { role: 'system', content: 'Cite each statement, like [1].' },
  { role: 'user', content: `### Search results:\n${evidence}\n\n### Question: How many days?` },
];
const titles = new Map([['leave.md', 'Leave']]);
const question = { facts: [['26 days'], ['30 June', 'end of June']], documents: ['leave.md'] };
const judged = (evidence: string, changes = {}) =>
  judge({ ...question, ...changes }, blocksOf(prompt(evidence), 'How many days?'), titles);

describe('blocksOf', () => {
  it('takes numbered blocks with their lines, without the question', () => {
    const evidence = '[1] Leave › Days (leave.md)\n26 days\n\nand more\n\n[2] Pay (pay.md)\n30 June';
    expect(blocksOf(prompt(evidence), 'How many days?').map(({ label }) => label)).toEqual([
      'Leave › Days (leave.md)',
      'Pay (pay.md)',
    ]);
    expect(blocksOf(prompt(evidence), 'How many days?')[0]!.text).toContain('and more');
  });

  it('does not take a footnote for a block', () => {
    expect(blocksOf(prompt('[1] Leave (leave.md)\n[7] a footnote'), 'How many days?')).toHaveLength(1);
  });

  it('finds nothing where the prompt has no evidence', () => {
    expect(blocksOf([{ role: 'user', content: 'How many days?' }], 'How many days?')).toEqual([]);
  });
});

describe('judge', () => {
  it('wants each fact in one of its forms, whatever the spaces and capitals', () => {
    expect(judged('[1] Leave (leave.md)\n26\nDays, up to the END of June')).toMatchObject({
      complete: true,
      blocks: 1,
    });
    expect(judged('[1] Leave (leave.md)\n26 days')).toMatchObject({ complete: false, missing: ['30 June'] });
  });

  it('does not take the fact of another document', () => {
    expect(judged('[1] Pay (pay.md)\n26 days until 30 June').complete).toBe(false);
    expect(judged('[1] Pay › Leave (pay.md)\n26 days until 30 June').complete).toBe(false);
    expect(judged('[1] Leave (page 3)\n26 days until 30 June').complete).toBe(true);
  });

  it('wants all rows, or a label that says which rows are shown', () => {
    const rows = { register: 'trees', where: {} } as const;
    const some = '[1] Trees (leave.md, rows 1–40 of 212)\n26 days';
    expect(judged(some, { rows })).toMatchObject({ complete: true, told: true });
    expect(judged(some)).toMatchObject({ complete: false, told: false });
    expect(judged('[1] Trees (leave.md)\n26 days', { rows }).complete).toBe(false);
  });

  it('counts tokens as four characters', () => {
    expect(judged(`[1] Leave (leave.md)\n${'x'.repeat(383)}`).tokens).toBe(100);
  });
});
