import type { GuardrailFinding, GuardrailJudgement } from '#platform/contracts';
import { setImmediate as yieldToOthers } from 'node:timers/promises';
import type { RE2JS } from 're2js';
import type { Rule } from './compile-rules.js';

/** Characters from which on other requests get a turn between the rules, because the patterns take long. */
const longText = 5_000;

/** Applies rules to a text. A blocking rule decides alone, and the blocked text is not returned. */
export async function judgeText(text: string, rules: readonly Rule[]): Promise<GuardrailJudgement> {
  const plain = withoutDisguise(text);
  const findings: GuardrailFinding[] = [];
  const redactions: Redaction[] = [];
  for (const rule of rules) {
    if (text.length > longText) await yieldToOthers();
    if (rule.action === 'redact') {
      for (const span of spansOf(rule, text)) redactions.push({ ...span, rule });
    } else if (spansOf(rule, plain).length > 0) {
      const finding = findingOf(rule);
      if (rule.action === 'block') return blocked(rule, [...findings, finding]);
      findings.push(finding);
    }
  }
  const kept = withoutOverlaps(redactions);
  findings.push(
    ...kept.map(({ rule, start, end }) => ({
      ...findingOf(rule),
      start,
      end,
      replacement: rule.replacement,
    })),
  );
  return { action: strongest(findings), text: redact(text, kept), findings };
}

interface Span {
  start: number;
  end: number;
}
type Redaction = Span & { rule: Rule };

function blocked(rule: Rule, findings: GuardrailFinding[]): GuardrailJudgement {
  return { action: 'block', text: '', message: rule.message, findings };
}

function findingOf({ id, description, action }: Rule): GuardrailFinding {
  return { rule: id, description, action };
}

function strongest(findings: readonly GuardrailFinding[]): GuardrailJudgement['action'] {
  if (findings.some(({ action }) => action === 'redact')) return 'redact';
  return findings.length > 0 ? 'flag' : 'pass';
}

/** Normalizes full-width letters, ligatures and invisible characters, which are common ways to evade a rule. */
export function withoutDisguise(text: string): string {
  return text.normalize('NFKC').replaceAll(/[\u00AD\u200B-\u200F\u2060\uFEFF]/g, '');
}

function spansOf({ patterns, accepts }: Rule, text: string): Span[] {
  return patterns.flatMap((pattern) => matchesOf(pattern, text, accepts));
}

function matchesOf(pattern: RE2JS, text: string, accepts: (match: string) => boolean): Span[] {
  const spans: Span[] = [];
  const matcher = pattern.matcher(text);
  while (matcher.find()) {
    const span = { start: matcher.start(), end: matcher.end() };
    if (span.end > span.start && accepts(text.slice(span.start, span.end))) spans.push(span);
  }
  return spans;
}

/** Redactions in the order of the text. Of two that overlap, the earlier one is kept, then the longer one. */
function withoutOverlaps(redactions: readonly Redaction[]): Redaction[] {
  const kept: Redaction[] = [];
  for (const redaction of redactions.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    if (redaction.start >= (kept.at(-1)?.end ?? 0)) kept.push(redaction);
  }
  return kept;
}

function redact(text: string, redactions: readonly Redaction[]): string {
  let result = '';
  let position = 0;
  for (const { start, end, rule } of redactions) {
    result += text.slice(position, start) + rule.replacement;
    position = end;
  }
  return result + text.slice(position);
}
