import { guardrailActions } from '#contracts';
import { z } from 'zod';
import { checksums } from './checksums.js';

const ruleSchema = z
  .strictObject({
    id: z.string().regex(/^[a-z0-9][a-z0-9-]*$/, 'an id is lower case letters, digits and -'),
    description: z.string().min(1),
    enabled: z.boolean().default(true),
    applies_to: z
      .array(z.enum(['input', 'output']))
      .min(1)
      .default(['input', 'output']),
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

/** The file of the rules. */
export const ruleFileSchema = z.strictObject({ rules: z.array(ruleSchema) });
