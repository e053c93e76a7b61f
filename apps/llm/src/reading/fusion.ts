import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { evidenceNames } from './evidence.js';

const regressionSchema = z.strictObject({ weights: z.array(z.number()), bias: z.number() });

const judgementSchema = z.strictObject({
  /** Which sentence answers, from the evidence of each. */
  rank: regressionSchema,
  /** Whether the first of them does, from its evidence and its lead over the second. */
  confidence: regressionSchema,
  /**
   * Below `answer` nothing is quoted; below `sure` a second sentence is, and the answer says that it may be wrong; below
   * `doubtful` a third one.
   */
  thresholds: z.strictObject({ answer: z.number(), doubtful: z.number(), sure: z.number() }),
  /** How much likelier a further quote counts, in logits, if another passage holds it: those of the first may be the wrong ones. */
  elsewhere: z.number(),
});

const fusionSchema = z.strictObject({
  evidence: z.array(z.string()),
  /** For passages of documents without headings. */
  prose: judgementSchema,
  /** For passages below headings, as handbooks and manuals have them. */
  outlined: judgementSchema,
});

/** How evidence of one kind of passages becomes an order and a probability. */
export type Judgement = z.infer<typeof judgementSchema>;

/** How the reader's scores and the lexical evidence become one order and one probability. */
export type Fusion = z.infer<typeof fusionSchema>;

/** Reads `fusion.json` of a reader's folder. Errors: a file that is missing, or that was fitted on other evidence. */
export function readFusion(directory: string): Fusion {
  const path = join(directory, 'fusion.json');
  const fusion = fusionSchema.parse(JSON.parse(readFileSync(path, 'utf8')));
  const fits =
    fusion.evidence.join() === evidenceNames.join() &&
    [fusion.prose, fusion.outlined].every(
      ({ rank, confidence }) =>
        rank.weights.length === evidenceNames.length &&
        confidence.weights.length === evidenceNames.length + 2,
    );
  if (!fits)
    throw new Error(`${path} was fitted on other evidence; tools/training/reader/fit.mjs fits it again`);
  return fusion;
}

/** The logit of a regression. */
export function regress({ weights, bias }: Judgement['rank'], values: readonly number[]): number {
  return weights.reduce((sum, weight, index) => sum + weight * values[index]!, bias);
}

/** Evidence for the first sentence of an order: its own, its logit, and its lead over the next. */
export function confidenceEvidence(
  evidence: readonly number[],
  logit: number,
  next: number | undefined,
): number[] {
  return [...evidence, logit, logit - (next ?? logit - 6)];
}

/** Logit to probability. */
export function sigmoid(logit: number): number {
  return 1 / (1 + Math.exp(-logit));
}
