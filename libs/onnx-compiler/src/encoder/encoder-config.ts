import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { isModernBert, type ModernBertShape, readModernBertShape } from './modernbert-config.js';
import { UnsupportedModelError } from '../unsupported-model.error.js';

/** Activation functions of the feed-forward layers, by their names in config.json. */
export const activations = {
  gelu: { operator: 'Gelu', domain: 'com.microsoft' },
  gelu_new: { operator: 'FastGelu', domain: 'com.microsoft' },
  gelu_fast: { operator: 'FastGelu', domain: 'com.microsoft' },
  gelu_pytorch_tanh: { operator: 'FastGelu', domain: 'com.microsoft' },
  relu: { operator: 'Relu', domain: '' },
} as const;
export type Activation = keyof typeof activations;

/** BERT counts positions from 0. RoBERTa and XLM-R count from after the padding id, and do not have segments. */
export type EncoderFamily = 'bert' | 'roberta';

/** The parts of an encoder's config.json that determine its graph. */
export interface EncoderShape {
  readonly family: EncoderFamily;
  readonly hiddenSize: number;
  readonly layers: number;
  readonly heads: number;
  readonly feedForward: number;
  readonly vocabularySize: number;
  /** Maximum tokens of an input. */
  readonly contextLength: number;
  readonly positions: number;
  readonly segments: number;
  readonly padTokenId: number;
  readonly activation: Activation;
  readonly normEpsilon: number;
}

const families: Readonly<Record<string, EncoderFamily>> = {
  bert: 'bert',
  roberta: 'roberta',
  'xlm-roberta': 'roberta',
  camembert: 'roberta',
};

const configSchema = z.looseObject({
  model_type: z.string(),
  hidden_size: z.int().positive(),
  num_hidden_layers: z.int().positive(),
  num_attention_heads: z.int().positive(),
  intermediate_size: z.int().positive(),
  vocab_size: z.int().positive(),
  max_position_embeddings: z.int().positive(),
  type_vocab_size: z.int().positive().default(2),
  pad_token_id: z.int().nullish(),
  hidden_act: z.string().default('gelu'),
  layer_norm_eps: z.number().positive().default(1e-12),
  position_embedding_type: z.string().default('absolute'),
  is_decoder: z.boolean().default(false),
  quantization_config: z.unknown().optional(),
});

/** Reads an encoder's config.json. Errors: UnsupportedModelError for any option that the graph does not support. */
export async function readEncoderShape(modelDirectory: string): Promise<EncoderShape | ModernBertShape> {
  const stored: unknown = JSON.parse(await readFile(join(modelDirectory, 'config.json'), 'utf8'));
  if (isModernBert(stored)) return readModernBertShape(stored, modelDirectory);
  const parsed = configSchema.safeParse(stored);
  const unsupported = (feature: string): never => {
    throw new UnsupportedModelError(feature, modelDirectory);
  };
  if (!parsed.success)
    return unsupported(`a config.json whose ${parsed.error.issues[0]?.path.join('.')} is missing or invalid`);
  const config = parsed.data;
  const family = families[config.model_type] ?? unsupported(`model_type "${config.model_type}"`);
  if (config.position_embedding_type !== 'absolute')
    return unsupported(`position_embedding_type "${config.position_embedding_type}"`);
  if (!(config.hidden_act in activations)) return unsupported(`hidden_act "${config.hidden_act}"`);
  if (config.is_decoder) return unsupported('is_decoder');
  if (config.quantization_config) return unsupported('quantization_config');
  return toShape(config, family);
}

function toShape(config: z.infer<typeof configSchema>, family: EncoderFamily): EncoderShape {
  const padTokenId = config.pad_token_id ?? (family === 'roberta' ? 1 : 0);
  const positions = config.max_position_embeddings;
  return {
    family,
    hiddenSize: config.hidden_size,
    layers: config.num_hidden_layers,
    heads: config.num_attention_heads,
    feedForward: config.intermediate_size,
    vocabularySize: config.vocab_size,
    contextLength: family === 'roberta' ? positions - padTokenId - 1 : positions,
    positions,
    segments: config.type_vocab_size,
    padTokenId,
    activation: config.hidden_act as Activation,
    normEpsilon: config.layer_norm_eps,
  };
}

/** Pooling of token vectors: their mean over the mask, or the first token's vector. */
export type GraphPooling = 'mean' | 'cls';

const poolingSchema = z.looseObject({
  pooling_mode_cls_token: z.boolean().default(false),
  pooling_mode_mean_tokens: z.boolean().default(false),
});

/**
 * Reads the pooling that sentence-transformers stored with the model; mean if it stored nothing. Errors:
 * UnsupportedModelError for another pooling.
 */
export async function readGraphPooling(modelDirectory: string): Promise<GraphPooling> {
  const path = join(modelDirectory, '1_Pooling', 'config.json');
  if (!existsSync(path)) return 'mean';
  const pooling = poolingSchema.parse(JSON.parse(await readFile(path, 'utf8')));
  if (pooling.pooling_mode_cls_token) return 'cls';
  if (pooling.pooling_mode_mean_tokens) return 'mean';
  throw new UnsupportedModelError('a pooling other than mean and cls', modelDirectory);
}
