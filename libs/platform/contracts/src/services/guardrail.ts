import { z } from 'zod';
import { defineMethod } from './method.js';

/** Maximum characters that one call judges, all its texts together. */
export const maxJudgedCharacters = 200_000;

/** Actions of a rule on a text; `block` takes precedence over `redact`, and `redact` over `flag`. */
export const guardrailActions = ['flag', 'redact', 'block'] as const;

export const guardrailFindingSchema = z.object({
  rule: z.string().describe('Id of the rule'),
  description: z.string(),
  action: z.enum(guardrailActions),
  /** The label of a classifier model, and its score for the text, 0–1. */
  label: z.string().optional(),
  score: z.number().optional(),
  /** Character offsets in the original text, for redactions only. The finding does not repeat the words. */
  start: z.int().optional(),
  end: z.int().optional(),
  /** The replacement for the text between the offsets. */
  replacement: z.string().optional(),
});
export type GuardrailFinding = z.infer<typeof guardrailFindingSchema>;

export const guardrailJudgementSchema = z.object({
  action: z.enum(['pass', ...guardrailActions]),
  /** The text after redactions; empty if it is blocked. */
  text: z.string(),
  /** The message for the user in place of a blocked text. */
  message: z.string().optional(),
  findings: z.array(guardrailFindingSchema),
});
export type GuardrailJudgement = z.infer<typeof guardrailJudgementSchema>;

/**
 * `guardrail.judge`: the verdict of the rules, and of a classifier model if one is configured, on each text in order.
 * Errors: payload_too_large, overloaded, and the errors of a remote model.
 */
export const judge = defineMethod({
  service: 'guardrail',
  method: 'judge',
  request: z.object({
    texts: z.array(z.string()).min(1).max(1_000),
    side: z.enum(['input', 'output']).describe('input: text of a user; output: text of a model'),
  }),
  reply: z.object({
    judgements: z.array(guardrailJudgementSchema),
    /** Short content hash of the rules in force. */
    revision: z.string(),
    /** The classifier model that was asked: its id and the revision of its weights, `id@revision`. */
    model: z.string().optional(),
  }),
});
