import { MegaNestError, type GuardrailFinding, type GuardrailJudgement } from '#platform/contracts';
import type { LabelScore } from '#engine/encoders';
import type { LabelRule } from '../rules/compile-rules.js';
import type { RuleCheck } from '../rules/rule-file.js';

/**
 * Adds the scores of a classifier to the judgement of the rules. Of several blocking labels the first one in the file
 * gives the message.
 * Errors: internal_error where a label has no finite score: a broken model must not let a text pass.
 */
export function judgeScores(
  judged: GuardrailJudgement,
  scores: readonly LabelScore[],
  rules: readonly LabelRule[],
): GuardrailJudgement {
  const reached = rules.flatMap((rule) => {
    const score = scoreOf(rule.label, scores);
    return score >= rule.threshold ? [{ rule, score }] : [];
  });
  const found = reached.map(({ rule, score }) => findingOf(rule, score));
  const findings = [...judged.findings, ...found];
  const blocking = reached.find(({ rule }) => rule.action === 'block');
  if (blocking) return { action: 'block', text: '', message: blocking.rule.message, findings };
  const action = judged.action === 'pass' && found.length > 0 ? 'flag' : judged.action;
  return { ...judged, action, findings };
}

/** NaN is below every threshold, so it would let every text pass. */
function scoreOf(name: string, scores: readonly LabelScore[]): number {
  const score = scores.find(({ label }) => label === name)?.score;
  if (score !== undefined && Number.isFinite(score)) return score;
  const detail = `its classifier did not return a finite score for ${name}`;
  throw new MegaNestError('internal_error', { service: 'guardrail', detail });
}

/** The score is rounded to four digits. */
function findingOf({ id, description, action, label }: LabelRule, score: number): GuardrailFinding {
  return { rule: id, description, action, label, score: Math.round(score * 1e4) / 1e4 };
}

/**
 * Checks that the model has the labels of a rule file; undefined: no model. A label that the model does not have would
 * never apply, and a model without a label in the file would run without effect.
 */
export function checkLabels(model: { id: string; labels: readonly string[] } | undefined): RuleCheck {
  return ({ labels }) => {
    if (!model) {
      if (labels.length === 0) return;
      throw new Error('labels: needs a classifier model (GUARDRAIL_MODEL_ID or TEI_GUARDRAIL_ENDPOINT)');
    }
    const known = `${model.id} has ${model.labels.join(', ')}`;
    if (labels.length === 0)
      throw new Error(`labels: must contain a label of the classifier model; ${known}`);
    const unknown = labels.find(({ label }) => !model.labels.includes(label));
    if (unknown)
      throw new Error(
        `labels: ${unknown.id}: the model does not have the label "${unknown.label}"; ${known}`,
      );
  };
}
