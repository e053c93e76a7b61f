import { describe, expect, it } from 'vitest';
import { compileRules } from '../rules/compile-rules.js';
import { checkLabels } from './check-labels.js';

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
      'toxicity: no label "Toxic"; toxic-bert has toxic, threat',
    );
  });

  it('refuses labels without a model, and a model without labels', () => {
    expect(() => checkLabels(undefined)(of('toxic'))).toThrow('GUARDRAIL_MODEL_ID');
    expect(() => checkLabels(model)(compileRules('rules: []'))).toThrow('toxic-bert has toxic, threat');
  });
});
