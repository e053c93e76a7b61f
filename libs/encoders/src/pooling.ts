import { ModelLoadError, readJson, readOptionalJson } from '#models';
import { z } from 'zod';

/** Supported poolings. */
export const poolings = ['mean', 'cls', 'max', 'last'] as const;
/** Pooling of token vectors to the vector of a text. */
export type Pooling = (typeof poolings)[number];

const poolingConfigSchema = z.looseObject({
  pooling_mode_cls_token: z.boolean().default(false),
  pooling_mode_mean_tokens: z.boolean().default(false),
  pooling_mode_max_tokens: z.boolean().default(false),
  pooling_mode_lasttoken: z.boolean().default(false),
});

/** Model families whose ONNX exports lack `1_Pooling/config.json` and that pool the first token. */
const clsFamilies = /(^|\/)(bge|snowflake-arctic-embed|mxbai-embed|gte-(base|large)-en-v1\.5)/i;

/**
 * Reads the pooling of a model folder: the one stored by sentence-transformers, otherwise the one known for the
 * model family, otherwise mean. Errors: ModelLoadError for an unsupported pooling.
 */
export async function readPooling(directory: string, id: string): Promise<Pooling> {
  const config = await readOptionalJson(directory, '1_Pooling/config.json', poolingConfigSchema);
  if (!config) return clsFamilies.test(id) ? 'cls' : 'mean';
  if (config.pooling_mode_cls_token) return 'cls';
  if (config.pooling_mode_mean_tokens) return 'mean';
  if (config.pooling_mode_max_tokens) return 'max';
  if (config.pooling_mode_lasttoken) return 'last';
  throw new ModelLoadError(
    `${directory}/1_Pooling/config.json has an unsupported pooling; use mean, cls, max or last.`,
  );
}

/**
 * Pools the token vectors of one text.
 * @param tokens `[sequence, width]` of this text, without padding.
 */
export function poolTokens(tokens: Float32Array, width: number, pooling: Pooling): Float32Array {
  const length = tokens.length / width;
  if (pooling === 'cls') return tokens.slice(0, width);
  if (pooling === 'last') return tokens.slice((length - 1) * width);
  const pooled = tokens.slice(0, width);
  for (let row = 1; row < length; row++) {
    for (let column = 0; column < width; column++) {
      const value = tokens[row * width + column]!;
      if (pooling === 'mean') pooled[column]! += value;
      else if (value > pooled[column]!) pooled[column] = value;
    }
  }
  // The sum replaces the mean, because the vector is normalized next.
  return pooled;
}

/** Scales a vector to unit length, in place. A vector of zeros stays as it is. */
export function normalizeVector(vector: Float32Array): Float32Array {
  let squares = 0;
  for (const value of vector) squares += value * value;
  const scale = squares > 0 ? 1 / Math.sqrt(squares) : 0;
  for (let index = 0; index < vector.length; index++) vector[index]! *= scale;
  return vector;
}

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
