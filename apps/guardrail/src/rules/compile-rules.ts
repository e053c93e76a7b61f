import { guardrailActions } from '#platform/contracts';
import { createHash } from 'node:crypto';
import { RE2JS } from 're2js';
import { parse } from 'yaml';
import { z } from 'zod';

/** A compiled rule. */
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

/** Errors: one Error that names the rule and the field of every problem. */
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

/** RE2's `\b` knows only ASCII, and so does the border of a phrase. */
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

/** Checks that separate real numbers from similar ones; the argument is the match as it is in the text. */
const checksums = { luhn: passesLuhn } as const satisfies Record<string, (match: string) => boolean>;

/** The check digit of payment cards (ISO/IEC 7812-1, annex B). */
function passesLuhn(match: string): boolean {
  const digits = Array.from(match.replaceAll(/\D/g, ''), Number).toReversed();
  const sum = digits.reduce((total, digit, index) => {
    const doubled = index % 2 === 1 ? digit * 2 : digit;
    return total + (doubled > 9 ? doubled - 9 : doubled);
  }, 0);
  return digits.length > 1 && sum > 0 && sum % 10 === 0;
}

const idSchema = z.string().regex(/^[a-z0-9][a-z0-9-]*$/, 'must be lower case letters, digits and -');
const appliesToSchema = z
  .array(z.enum(['input', 'output']))
  .min(1)
  .default(['input', 'output']);

const ruleSchema = z
  .strictObject({
    id: idSchema,
    description: z.string().min(1),
    enabled: z.boolean().default(true),
    applies_to: appliesToSchema,
    action: z.enum(guardrailActions),
    /** Words in this order, with any space and case; a phrase begins and ends at the border of a word. */
    phrases: z.array(z.string().min(1)).default([]),
    /** Regular expressions in RE2's syntax, which matches in linear time: no look-around and no back references. */
    patterns: z.array(z.string().min(1)).default([]),
    /** A match counts only if its digits satisfy this check. */
    checksum: z.enum(Object.keys(checksums) as [keyof typeof checksums]).optional(),
    /** block: what is said in the text's place. */
    message: z.string().min(1).optional(),
    /** redact: the replacement for a match; default: `[id]`. */
    replacement: z.string().optional(),
  })
  .refine(({ phrases, patterns }) => phrases.length + patterns.length > 0, {
    message: 'a rule must have phrases or patterns',
    path: ['patterns'],
  });

/** One rule of the file, with the defaults filled in. */
type RuleSource = z.output<typeof ruleSchema>;

const labelRuleSchema = z.strictObject({
  id: idSchema,
  description: z.string().min(1),
  enabled: z.boolean().default(true),
  applies_to: appliesToSchema,
  /** A classifier has no position in the text, so nothing can be redacted. */
  action: z.enum(['flag', 'block'], 'must be flag or block; a classifier does not find the words to redact'),
  /** Name of the label in the model's config.json (id2label). */
  label: z.string().min(1),
  /** The rule applies where the label's score is at least this. */
  threshold: z.number().gt(0).max(1).default(0.5),
  /** block: what is said in the text's place. */
  message: z.string().min(1).optional(),
});

/** One rule of the file about a label of the classifier model, with the defaults filled in. */
type LabelRuleSource = z.output<typeof labelRuleSchema>;

/** The file of the rules. */
const ruleFileSchema = z.strictObject({
  rules: z.array(ruleSchema).default([]),
  /** Rules for labels of the classifier model. */
  labels: z.array(labelRuleSchema).default([]),
});
