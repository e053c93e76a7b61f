import { z } from 'zod';
import { readOptionalJson, ModelLoadError } from '#models';

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
