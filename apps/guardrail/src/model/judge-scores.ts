import type { GuardrailFinding, GuardrailJudgement } from '#contracts';
import type { LabelScore } from '#inference';
import type { LabelRule } from '../rules/compile-rules.js';

/** Adds what a classifier says to what the rules have said. Of several labels that block, the first of the file speaks. */
export function judgeScores(
  judged: GuardrailJudgement,
  scores: readonly LabelScore[],
  rules: readonly LabelRule[],
): GuardrailJudgement {
  const reached = rules.flatMap((rule) => {
    const score = scores.find(({ label }) => label === rule.label)?.score ?? 0;
    return score >= rule.threshold ? [{ rule, score }] : [];
  });
  const found = reached.map(({ rule, score }) => findingOf(rule, score));
  const findings = [...judged.findings, ...found];
  const blocking = reached.find(({ rule }) => rule.action === 'block');
  if (blocking) return { action: 'block', text: '', message: blocking.rule.message, findings };
  const action = judged.action === 'pass' && found.length > 0 ? 'flag' : judged.action;
  return { ...judged, action, findings };
}

/** Four digits say all that a score has to say. */
function findingOf({ id, description, action, label }: LabelRule, score: number): GuardrailFinding {
  return { rule: id, description, action, label, score: Math.round(score * 1e4) / 1e4 };
}
