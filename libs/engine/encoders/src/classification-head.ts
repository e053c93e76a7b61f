import { ModelLoadError, readJson } from '#engine/models';
import { z } from 'zod';

/** Function from logits to scores: softmax for labels that exclude each other, sigmoid for independent labels. */
export type ScoreFunction = 'softmax' | 'sigmoid';

/** Labels and score function of a classifier. */
export interface ClassificationHead {
  /** In the order of the logits; empty if config.json does not name them. */
  readonly labels: readonly string[];
  readonly scores: ScoreFunction;
}

const headSchema = z.looseObject({
  id2label: z.record(z.string().regex(/^\d+$/), z.string().min(1)).optional(),
  num_labels: z.int().min(1).optional(),
  problem_type: z.string().nullish(),
});

/**
 * Reads labels and score function from config.json as transformers' pipeline does: sigmoid for
 * `multi_label_classification` and for a single label, softmax otherwise. Errors: ModelLoadError for a regression.
 */
export async function readClassificationHead(directory: string): Promise<ClassificationHead> {
  const config = await readJson(directory, 'config.json', headSchema);
  const problem = config.problem_type ?? undefined;
  if (problem === 'regression')
    throw new ModelLoadError(`${directory} is a regression (problem_type); a classifier is needed.`);
  const named = Object.entries(config.id2label ?? {}).toSorted(([a], [b]) => Number(a) - Number(b));
  const labels = named.map(([, label]) => label);
  const isSingle = (config.num_labels ?? labels.length) === 1;
  return { labels, scores: problem === 'multi_label_classification' || isSingle ? 'sigmoid' : 'softmax' };
}

/** Computes scores in 0–1 from the logits of one input. */
export function scoresOf(logits: Float32Array, scores: ScoreFunction): Float32Array {
  if (scores === 'sigmoid') return logits.map((logit) => 1 / (1 + Math.exp(-logit)));
  const largest = logits.reduce((most, logit) => Math.max(most, logit), -Infinity);
  const powers = logits.map((logit) => Math.exp(logit - largest));
  const sum = powers.reduce((total, power) => total + power, 0);
  return powers.map((power) => power / sum);
}
