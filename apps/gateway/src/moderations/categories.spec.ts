import { describe, expect, it } from 'vitest';
import { toModeration } from './categories.js';

const finding = (rule: string, more: object = {}) => ({
  rule,
  description: rule,
  action: 'block' as const,
  ...more,
});

describe('toModeration', () => {
  it('has all categories of OpenAI for a text that passes', () => {
    const { flagged, categories, category_scores } = toModeration({ action: 'pass', findings: [] });
    expect(flagged).toBe(false);
    expect(Object.keys(categories)).toHaveLength(13);
    expect(new Set(Object.values(category_scores))).toEqual(new Set([0]));
  });

  it('names the category of a rule, and the rule', () => {
    const { flagged, categories } = toModeration({ action: 'block', findings: [finding('weapons')] });
    expect(flagged).toBe(true);
    expect(categories).toMatchObject({ weapons: true, illicit: true, 'illicit/violent': true, hate: false });
  });

  it('has the score of a classifier', () => {
    const findings = [finding('insults', { label: 'insult', score: 0.83 })];
    expect(toModeration({ action: 'flag', findings }).category_scores).toMatchObject({
      harassment: 0.83,
      hate: 0,
    });
  });
});
