import { guardrailActions } from '#contracts';
import { z } from 'zod';
import { checksums } from './checksums.js';

const idSchema = z.string().regex(/^[a-z0-9][a-z0-9-]*$/, 'an id is lower case letters, digits and -');
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
    /** Words in this order, whatever space or case; each begins and ends at the border of a word. */
    phrases: z.array(z.string().min(1)).default([]),
    /** Regular expressions in RE2's syntax: no look-around, no back references, and so no runaway matching. */
    patterns: z.array(z.string().min(1)).default([]),
    /** A match counts only where its digits satisfy this too. */
    checksum: z.enum(Object.keys(checksums) as [keyof typeof checksums]).optional(),
    /** block: what is said in the text's place. */
    message: z.string().min(1).optional(),
    /** redact: what is put in the place of a match; `[id]` by default. */
    replacement: z.string().optional(),
  })
  .refine(({ phrases, patterns }) => phrases.length + patterns.length > 0, {
    message: 'a rule has phrases or patterns',
    path: ['patterns'],
  });

/** One rule as the file has it, defaults filled in. */
export type RuleSource = z.output<typeof ruleSchema>;

const labelRuleSchema = z.strictObject({
  id: idSchema,
  description: z.string().min(1),
  enabled: z.boolean().default(true),
  applies_to: appliesToSchema,
  /** A model does not say where in a text it sees something, so that nothing can be redacted. */
  action: z.enum(['flag', 'block'], 'a label flags or blocks; a model cannot tell what to redact'),
  /** As the model's config.json has it (id2label). */
  label: z.string().min(1),
  /** The rule applies where the label's score is at least this. */
  threshold: z.number().gt(0).max(1).default(0.5),
  /** block: what is said in the text's place. */
  message: z.string().min(1).optional(),
});

/** One rule about a label of the classifier model as the file has it, defaults filled in. */
export type LabelRuleSource = z.output<typeof labelRuleSchema>;

/** The file of the rules. */
export const ruleFileSchema = z.strictObject({
  rules: z.array(ruleSchema).default([]),
  /** What labels of the classifier model mean here. */
  labels: z.array(labelRuleSchema).default([]),
});
