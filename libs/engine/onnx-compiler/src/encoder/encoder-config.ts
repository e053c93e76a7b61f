import { z } from 'zod';
import { parseConfig, readConfig, UnsupportedModelError } from '../config-file.js';

/** The parts of a ModernBERT's config.json that determine its graph. */
export interface ModernBertShape {
  readonly family: 'modernbert';
  readonly hiddenSize: number;
  readonly layers: number;
  readonly heads: number;
  readonly headDim: number;
  readonly feedForward: number;
  readonly vocabularySize: number;
  readonly contextLength: number;
  readonly normEpsilon: number;
  /** Bases of the rotary embeddings of layers that attend to all positions, and of layers with a window. */
  readonly globalTheta: number;
  readonly localTheta: number;
  /** Number of positions on either side that a token attends to in layers with a window. */
  readonly reach: number;
  /** True for each layer with a window. */
  readonly windowed: readonly boolean[];
  /** Pooling before the classifier. */
  readonly classifierPooling: 'cls' | 'mean';
}

/** Fields with the same names in both families. */
const sizes = {
  hidden_size: z.int().positive(),
  num_hidden_layers: z.int().positive(),
  num_attention_heads: z.int().positive(),
  intermediate_size: z.int().positive(),
  vocab_size: z.int().positive(),
  max_position_embeddings: z.int().positive(),
};

const rope = z.looseObject({ rope_theta: z.number().positive(), rope_type: z.string().default('default') });

const modernBertSchema = z.looseObject({
  ...sizes,
  norm_eps: z.number().positive().default(1e-5),
  hidden_activation: z.string().default('gelu'),
  global_rope_theta: z.number().positive().default(160_000),
  local_rope_theta: z.number().positive().nullish(),
  global_attn_every_n_layers: z.int().positive().default(3),
  local_attention: z.int().positive().default(128),
  layer_types: z.array(z.string()).nullish(),
  rope_parameters: z.looseObject({ full_attention: rope, sliding_attention: rope }).nullish(),
  classifier_pooling: z.enum(['cls', 'mean']).default('cls'),
  classifier_activation: z.string().default('gelu'),
  quantization_config: z.unknown().optional(),
});

/** Returns true for the config.json of a ModernBERT. */
function isModernBert(stored: unknown): boolean {
  return z.looseObject({ model_type: z.literal('modernbert') }).safeParse(stored).success;
}

/** Reads a ModernBERT's config.json. Errors: UnsupportedModelError for any option that the graph does not support. */
function readModernBertShape(stored: unknown, modelDirectory: string): ModernBertShape {
  const unsupported = (feature: string): never => {
    throw new UnsupportedModelError(feature, modelDirectory);
  };
  const config = parseConfig(modernBertSchema, stored, modelDirectory);
  const { rope_parameters: ropes } = config;
  const headDim = config.hidden_size / config.num_attention_heads;
  for (const name of ['hidden_activation', 'classifier_activation'] as const)
    if (config[name] !== 'gelu') return unsupported(`${name} "${config[name]}"`);
  if (config.quantization_config) return unsupported('quantization_config');
  if (!Number.isInteger(headDim) || headDim % 2 === 1) return unsupported(`a head dimension of ${headDim}`);
  const layerType = config.layer_types?.find((type) => !/^(full|sliding)_attention$/.test(type));
  if (layerType !== undefined) return unsupported(`layer_types "${layerType}"`);
  for (const { rope_type: type } of ropes ? [ropes.full_attention, ropes.sliding_attention] : [])
    if (type !== 'default') return unsupported(`rope_parameters of type "${type}"`);
  const globalTheta = ropes?.full_attention.rope_theta ?? config.global_rope_theta;
  return {
    family: 'modernbert',
    hiddenSize: config.hidden_size,
    layers: config.num_hidden_layers,
    heads: config.num_attention_heads,
    headDim,
    feedForward: config.intermediate_size,
    vocabularySize: config.vocab_size,
    contextLength: config.max_position_embeddings,
    normEpsilon: config.norm_eps,
    globalTheta,
    localTheta: ropes?.sliding_attention.rope_theta ?? config.local_rope_theta ?? globalTheta,
    reach: Math.floor(config.local_attention / 2),
    windowed: Array.from({ length: config.num_hidden_layers }, (_unused, layer) =>
      config.layer_types
        ? config.layer_types[layer] === 'sliding_attention'
        : layer % config.global_attn_every_n_layers !== 0,
    ),
    classifierPooling: config.classifier_pooling,
  };
}

/** Activation functions of the feed-forward layers, by their names in config.json. */
export const activations = {
  gelu: { operator: 'Gelu', withBias: 'BiasGelu', domain: 'com.microsoft' },
  gelu_new: { operator: 'FastGelu', withBias: 'FastGelu', domain: 'com.microsoft' },
  gelu_fast: { operator: 'FastGelu', withBias: 'FastGelu', domain: 'com.microsoft' },
  gelu_pytorch_tanh: { operator: 'FastGelu', withBias: 'FastGelu', domain: 'com.microsoft' },
  relu: { operator: 'Relu', withBias: undefined, domain: '' },
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
  ...sizes,
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
  const stored = await readConfig(modelDirectory);
  if (isModernBert(stored)) return readModernBertShape(stored, modelDirectory);
  const config = parseConfig(configSchema, stored, modelDirectory);
  const unsupported = (feature: string): never => {
    throw new UnsupportedModelError(feature, modelDirectory);
  };
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
