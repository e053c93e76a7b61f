import { z } from 'zod';
import { defineMethod } from './method.js';

/** Most characters that one call judges, all its texts together. */
export const maxJudgedCharacters = 200_000;

/** What a rule has done to a text; `block` outweighs `redact`, that outweighs `flag`. */
export const guardrailActions = ['flag', 'redact', 'block'] as const;

export const guardrailFindingSchema = z.object({
  rule: z.string().describe('Id of the rule'),
  description: z.string(),
  action: z.enum(guardrailActions),
  /** Of a classifier model: its label, and how well that fits the text, 0–1. */
  label: z.string().optional(),
  score: z.number().optional(),
  /** Character offsets in the text as it was given; the words themselves are not repeated. Of redactions only. */
  start: z.int().optional(),
  end: z.int().optional(),
  /** What stands there now. */
  replacement: z.string().optional(),
});
export type GuardrailFinding = z.infer<typeof guardrailFindingSchema>;

export const guardrailJudgementSchema = z.object({
  action: z.enum(['pass', ...guardrailActions]),
  /** The text with what was to be redacted replaced; empty where it is blocked. */
  text: z.string(),
  /** What to say in the place of a blocked text. */
  message: z.string().optional(),
  findings: z.array(guardrailFindingSchema),
});
export type GuardrailJudgement = z.infer<typeof guardrailJudgementSchema>;

/**
 * `guardrail.judge`: what the rules, and a classifier model where there is one, say to each text, in their order.
 * Errors: payload_too_large, overloaded, and those of a remote model.
 */
export const judge = defineMethod({
  service: 'guardrail',
  method: 'judge',
  request: z.object({
    texts: z.array(z.string()).min(1).max(1_000),
    side: z.enum(['input', 'output']).describe('input: said by a user; output: said by a model'),
  }),
  reply: z.object({
    judgements: z.array(guardrailJudgementSchema),
    /** Short content hash of the rules in force. */
    revision: z.string(),
    /** The classifier model that was asked: its id and the revision of its weights, `id@revision`. */
    model: z.string().optional(),
  }),
});
