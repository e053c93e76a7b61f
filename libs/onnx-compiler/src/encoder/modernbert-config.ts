import { z } from 'zod';
import { UnsupportedModelError } from '../unsupported-model.error.js';

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
  /** Bases of the rotary embeddings of layers that see everything, and of those with a window. */
  readonly globalTheta: number;
  readonly localTheta: number;
  /** Tokens with a window attend to so many positions on either side. */
  readonly reach: number;
  /** Whether a layer has a window. */
  readonly windowed: readonly boolean[];
  /** What a classifier reads. */
  readonly classifierPooling: 'cls' | 'mean';
}

const rope = z.looseObject({ rope_theta: z.number().positive(), rope_type: z.string().default('default') });

const configSchema = z.looseObject({
  hidden_size: z.int().positive(),
  num_hidden_layers: z.int().positive(),
  num_attention_heads: z.int().positive(),
  intermediate_size: z.int().positive(),
  vocab_size: z.int().positive(),
  max_position_embeddings: z.int().positive(),
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

/** Whether a config.json is that of a ModernBERT. */
export function isModernBert(stored: unknown): boolean {
  return z.looseObject({ model_type: z.literal('modernbert') }).safeParse(stored).success;
}

/** Reads a ModernBERT's config.json. Errors: UnsupportedModelError for any option that the graph does not support. */
export function readModernBertShape(stored: unknown, modelDirectory: string): ModernBertShape {
  const unsupported = (feature: string): never => {
    throw new UnsupportedModelError(feature, modelDirectory);
  };
  const parsed = configSchema.safeParse(stored);
  if (!parsed.success)
    return unsupported(`a config.json whose ${parsed.error.issues[0]?.path.join('.')} is missing or invalid`);
  const config = parsed.data;
  const { rope_parameters: ropes } = config;
  const headDim = config.hidden_size / config.num_attention_heads;
  for (const name of ['hidden_activation', 'classifier_activation'] as const)
    if (config[name] !== 'gelu') return unsupported(`${name} "${config[name]}"`);
  if (config.quantization_config) return unsupported('quantization_config');
  if (!Number.isInteger(headDim) || headDim % 2 === 1) return unsupported(`a head dimension of ${headDim}`);
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
