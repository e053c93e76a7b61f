import { ModelLoadError, readOptionalJson } from '#engine/models';
import { z } from 'zod';

/** Options of a Transformer module. */
export interface TransformerConfig {
  /** Maximum tokens of a text, if the file names it. */
  readonly maxTokens?: number;
  /** Texts become lower case before the tokenizer reads them. */
  readonly lowercases: boolean;
}

const modalitySchema = z.strictObject(
  {
    text: z.looseObject({
      method: z.literal('forward'),
      method_output_name: z.enum(['last_hidden_state', 'logits']),
    }),
  },
  'only the modality "text" is supported',
);

const schema = z.object({
  max_seq_length: z.int().positive().nullish(),
  do_lower_case: z.boolean().default(false),
  transformer_task: z
    .enum(['feature-extraction', 'sequence-classification'], {
      error: ({ input }) => `"${String(input)}" is not supported; use an encoder`,
    })
    .optional(),
  modality_config: modalitySchema.optional(),
  module_output_name: z.enum(['token_embeddings', 'scores']).optional(),
  /** The runtime pads or packs as it likes. */
  unpad_inputs: z.boolean().nullish(),
});

/**
 * Reads sentence_bert_config.json, or the defaults without it. Errors: ModelLoadError that names an option that is not
 * supported.
 */
export async function readTransformerConfig(directory: string): Promise<TransformerConfig> {
  const file = 'sentence_bert_config.json';
  const config = await readOptionalJson(directory, file, schema.catchall(z.unknown()));
  if (!config) return { lowercases: false };
  const unknown = Object.entries(config).find(([key, value]) => !(key in schema.shape) && !isEmpty(value));
  if (unknown) throw new ModelLoadError(`${directory}/${file}: ${unknown[0]} is not supported.`);
  const { max_seq_length: maxTokens, do_lower_case: lowercases } = config;
  return { lowercases, ...(maxTokens && { maxTokens }) };
}

const isEmpty = (value: unknown): boolean =>
  value === null || value === false || (typeof value === 'object' && Object.keys(value).length === 0);
