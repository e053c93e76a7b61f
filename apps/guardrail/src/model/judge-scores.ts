import { MegaNestError, type GuardrailFinding, type GuardrailJudgement } from '#contracts';
import type { LabelScore } from '#encoders';
import type { LabelRule } from '../rules/compile-rules.js';
import type { RuleCheck } from '../rules/rule-file.js';

/**
 * Adds what a classifier says to what the rules have said. Of several labels that block, the first of the file speaks.
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

/** NaN reaches no threshold, so it would let everything pass. */
function scoreOf(name: string, scores: readonly LabelScore[]): number {
  const score = scores.find(({ label }) => label === name)?.score;
  if (score !== undefined && Number.isFinite(score)) return score;
  const detail = `its classifier gave no finite score of ${name}`;
  throw new MegaNestError('internal_error', { service: 'guardrail', detail });
}

/** Four digits say all that a score has to say. */
function findingOf({ id, description, action, label }: LabelRule, score: number): GuardrailFinding {
  return { rule: id, description, action, label, score: Math.round(score * 1e4) / 1e4 };
}

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
    const unknown = labels.find(({ label }) => !model.labels.includes(label));
    if (unknown) throw new Error(`labels: ${unknown.id}: no label "${unknown.label}"; ${known}`);
  };
}
