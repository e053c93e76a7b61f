import { createHash } from 'node:crypto';
import { RE2JS } from 're2js';
import { parse } from 'yaml';
import { checksums } from './checksums.js';
import { ruleFileSchema, type LabelRuleSource, type RuleSource } from './rule-schema.js';

/** A rule ready to be applied. */
export interface Rule extends Pick<RuleSource, 'id' | 'description' | 'action'> {
  readonly appliesTo: readonly ('input' | 'output')[];
  readonly patterns: readonly RE2JS[];
  readonly accepts: (match: string) => boolean;
  readonly message: string;
  readonly replacement: string;
}

/** A rule about a label of the classifier model. */
export interface LabelRule extends Pick<
  LabelRuleSource,
  'id' | 'description' | 'action' | 'label' | 'threshold'
> {
  readonly appliesTo: readonly ('input' | 'output')[];
  readonly message: string;
}

/** The rules of a file that are enabled, in its order. */
export interface RuleSet {
  readonly rules: readonly Rule[];
  readonly labels: readonly LabelRule[];
  /** Short content hash of the file. */
  readonly revision: string;
}

/** Errors: an Error that names the rule and the field, all that is wrong in one message. */
export function compileRules(text: string): RuleSet {
  const result = ruleFileSchema.safeParse(parse(text));
  if (!result.success) {
    const problems = result.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
    throw new Error(problems.join('; '));
  }
  const { rules, labels } = result.data;
  refuseTwins([...rules, ...labels]);
  const revision = createHash('sha256').update(text).digest('hex').slice(0, 12);
  return {
    rules: rules.filter(({ enabled }) => enabled).map(compileRule),
    labels: labels.filter(({ enabled }) => enabled).map(compileLabel),
    revision,
  };
}

function compileRule(source: RuleSource): Rule {
  const { id, description, action, checksum } = source;
  return {
    id,
    description,
    action,
    appliesTo: source.applies_to,
    patterns: [...source.phrases.map(phrasePattern), ...source.patterns].map((pattern, index) =>
      compilePattern(pattern, `${id}: ${source.phrases[index] ?? pattern}`),
    ),
    accepts: checksum ? checksums[checksum] : () => true,
    message: messageOf(source),
    replacement: source.replacement ?? `[${id}]`,
  };
}

function compileLabel(source: LabelRuleSource): LabelRule {
  const { id, description, action, label, threshold } = source;
  return {
    id,
    description,
    action,
    label,
    threshold,
    appliesTo: source.applies_to,
    message: messageOf(source),
  };
}

function messageOf({ message, description }: { message?: string; description: string }): string {
  return message ?? `This cannot be answered here (${description}).`;
}

function compilePattern(pattern: string, place: string): RE2JS {
  try {
    return RE2JS.compile(pattern, RE2JS.CASE_INSENSITIVE);
  } catch (cause) {
    throw new Error(`${place}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}

/** RE2's `\b` knows ASCII only; so does the border of a phrase. */
function phrasePattern(phrase: string): string {
  const words = phrase
    .trim()
    .split(/\s+/)
    .map((word) => RE2JS.quote(word));
  return `\\b${words.join('\\s+')}\\b`;
}

function refuseTwins(rules: readonly { id: string }[]): void {
  const seen = new Set<string>();
  for (const { id } of rules) {
    if (seen.has(id)) throw new Error(`two rules have the id ${id}`);
    seen.add(id);
  }
}
