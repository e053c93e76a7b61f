import type { GuardrailJudgement } from '#platform/contracts';
import { describe, expect, it } from 'vitest';
import { compileRules } from '../rules/compile-rules.js';
import { judgeScores, checkLabels } from './judge-scores.js';

const { labels } = compileRules(`
labels:
  - { id: toxicity, description: insults, label: toxic, action: block, threshold: 0.8, message: Be kind. }
  - { id: threats, description: threats, label: threat, action: block }
  - { id: rudeness, description: rude words, label: rude, action: flag, threshold: 0.3 }
  - { id: off, description: nothing, label: fine, action: block, enabled: false }
`);
const passed: GuardrailJudgement = { action: 'pass', text: 'words', findings: [] };
const redaction = { rule: 'card-number', description: 'cards', action: 'redact' } as const;
const redacted: GuardrailJudgement = { action: 'redact', text: '[card number]', findings: [redaction] };
const judge = (judged: GuardrailJudgement, scores: Record<string, number>) =>
  judgeScores(
    judged,
    Object.entries({ toxic: 0, threat: 0, rude: 0, ...scores }).map(([label, score]) => ({ label, score })),
    labels,
  );

describe('judgeScores', () => {
  it('passes what no label reaches its threshold in', () => {
    expect(judge(passed, { toxic: 0.79, threat: 0.49, rude: 0.29, fine: 1 })).toEqual(passed);
    expect(judge(redacted, { toxic: 0, threat: 0, rude: 0 })).toEqual(redacted);
  });

  it('blocks with the message of the first label, and names label and score of all', () => {
    expect(judge(redacted, { toxic: 0.8, threat: 0.98765432, rude: 0.1 })).toEqual({
      action: 'block',
      text: '',
      message: 'Be kind.',
      findings: [
        redaction,
        { rule: 'toxicity', description: 'insults', action: 'block', label: 'toxic', score: 0.8 },
        { rule: 'threats', description: 'threats', action: 'block', label: 'threat', score: 0.9877 },
      ],
    });
  });

  it('notes a flag beside what the rules have done', () => {
    expect(judge(passed, { rude: 0.3 })).toMatchObject({
      action: 'flag',
      text: 'words',
      findings: [{ rule: 'rudeness' }],
    });
    expect(judge(redacted, { rude: 0.3 })).toMatchObject({ action: 'redact', text: '[card number]' });
  });

  it.each([NaN, Infinity, undefined])('does not take %s for a verdict', (threat) => {
    expect(() => judge(passed, { threat } as Record<string, number>)).toThrow(
      expect.objectContaining({ code: 'internal_error', message: expect.stringContaining('threat') }),
    );
  });

  it('says something of its own where the label has no message', () => {
    expect(judge(passed, { threat: 0.5 }).message).toBe('This cannot be answered here (threats).');
  });
});

const of = (label: string) =>
  compileRules(`labels: [{ id: toxicity, description: insults, label: ${label}, action: block }]`);
const model = { id: 'toxic-bert', labels: ['toxic', 'threat'] };

describe('checkLabels', () => {
  it('lets labels of the model pass, and rules alone where there is no model', () => {
    expect(() => checkLabels(model)(of('threat'))).not.toThrow();
    expect(() => checkLabels(undefined)(compileRules('rules: []'))).not.toThrow();
  });

  it('refuses a label that the model does not have, and says which ones it has', () => {
    expect(() => checkLabels(model)(of('Toxic'))).toThrow(
      'toxicity: the model does not have the label "Toxic"; toxic-bert has toxic, threat',
    );
  });

  it('refuses labels without a model, and a model without labels', () => {
    expect(() => checkLabels(undefined)(of('toxic'))).toThrow('GUARDRAIL_MODEL_ID');
    expect(() => checkLabels(model)(compileRules('rules: []'))).toThrow('toxic-bert has toxic, threat');
  });
});
