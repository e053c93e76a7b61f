import { describe, expect, it } from 'vitest';
import { check, type Verdict } from './generated/check.js';
import { generate, type Domain } from './generated/generator.js';
import { heldDomains, tuneDomains } from './generated/domains.js';

/** Verdicts of generated questions over generated tables, and the questions that were not answered right. */
function measure(domains: readonly Domain[], seed: number) {
  const counts: Record<Verdict, number> = { right: 0, wrong: 0, opposite: 0, refused: 0 };
  const failures: string[] = [];
  const questions = generate(domains, { seed, tables: 4 });
  for (const one of questions) {
    const { verdict, text } = check(one);
    counts[verdict] += 1;
    if (verdict !== 'right')
      failures.push(`${verdict} [${one.operation}] ${one.question}: ${text.split('\n')[0]}`);
  }
  return { share: counts.right / questions.length, counts, failures };
}

describe.each([
  ['the tables that the rules were made with', tuneDomains],
  ['other tables and questions', heldDomains],
])('questions over %s', (_name, domains) => {
  it('are answered right, or not at all', () => {
    const { share, counts, failures } = measure(domains, 7);
    if (share < 0.9 || counts.opposite > 0) console.error(failures.join('\n'));
    expect(share).toBeGreaterThanOrEqual(0.9);
    expect(counts.opposite).toBe(0);
    expect(counts.wrong / counts.right).toBeLessThan(0.02);
  });
});
