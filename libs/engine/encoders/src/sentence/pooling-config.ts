import { ModelLoadError, readJson } from '#engine/models';
import { z } from 'zod';
import { poolingModes, type PoolingMode } from './pooling.js';

/** Keys of older releases, in the order in which they are concatenated. */
const olderKeys: Readonly<Record<string, PoolingMode>> = {
  pooling_mode_cls_token: 'cls',
  pooling_mode_max_tokens: 'max',
  pooling_mode_mean_tokens: 'mean',
  pooling_mode_mean_sqrt_len_tokens: 'mean_sqrt_len_tokens',
  pooling_mode_weightedmean_tokens: 'weightedmean',
  pooling_mode_lasttoken: 'lasttoken',
};

const mode = z.enum(poolingModes, {
  error: ({ input }) => `"${String(input)}" is not supported; use ${poolingModes.join(', ')}`,
});
const schema = z
  .object({
    embedding_dimension: z.int().optional(),
    word_embedding_dimension: z.int().optional(),
    pooling_mode: z.preprocess(
      (stored) => (typeof stored === 'string' ? [stored] : stored),
      z.array(mode).min(1).optional(),
    ),
    include_prompt: z.literal(true, 'false is not supported: prompts are pooled with the text').default(true),
  })
  .catchall(z.unknown());

/**
 * Reads the config.json of a Pooling module, in the present form (`pooling_mode`) or the older one (a key for each
 * mode); the mean if it names none. Errors: ModelLoadError that names what is not supported.
 */
export async function readPoolingConfig(directory: string): Promise<readonly PoolingMode[]> {
  const config = await readJson(directory, 'config.json', schema);
  const known = new Set([...Object.keys(schema.shape), ...Object.keys(olderKeys)]);
  const unknown = Object.keys(config).find((key) => !known.has(key) && config[key] !== false);
  if (unknown !== undefined)
    throw new ModelLoadError(`${directory}/config.json: ${unknown} is not supported.`);
  if (config.pooling_mode) return config.pooling_mode;
  const modes = Object.entries(olderKeys).flatMap(([key, value]) => (config[key] === true ? [value] : []));
  return modes.length > 0 ? modes : ['mean'];
}
