import type { RuleCheck } from '../rules/rule-file.js';

/**
 * Holds the labels of a rule file against those of the model, undefined where there is none. A label that the model does
 * not have would never apply, and a model that no label speaks of would be asked for nothing.
 */
export function checkLabels(model: { id: string; labels: readonly string[] } | undefined): RuleCheck {
  return ({ labels }) => {
    if (!model) {
      if (labels.length === 0) return;
      throw new Error('labels: need a classifier model (GUARDRAIL_MODEL_ID or TEI_GUARDRAIL_ENDPOINT)');
    }
    const known = `${model.id} has ${model.labels.join(', ')}`;
    if (labels.length === 0) throw new Error(`labels: none of the classifier model is judged; ${known}`);
    const stranger = labels.find(({ label }) => !model.labels.includes(label));
    if (stranger) throw new Error(`labels: ${stranger.id}: no label "${stranger.label}"; ${known}`);
  };
}
