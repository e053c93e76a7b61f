import { MegaNestError, type GuardrailFinding, type GuardrailJudgement } from '#contracts';
import type { LabelScore } from '#encoders';
import type { LabelRule } from '../rules/compile-rules.js';

/**
 * Adds what a classifier says to what the rules have said. Of several labels that block, the first of the file speaks.
 * Errors: internal_error where a label has no finite score, for nothing may pass a model that is broken.
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
