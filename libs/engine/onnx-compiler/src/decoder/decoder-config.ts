import { z } from 'zod';
import { type RotaryEmbedding, ropeScalingSchema } from './rope.js';
import { type Packing, readPacking } from '../checkpoint/matrix.js';
import { parseConfig, readConfig, UnsupportedModelError } from '../config-file.js';
import { isVisionConfig, readTextConfig } from '../vision/vision-config.js';

/** The parts of a decoder's config.json that determine its graph. */
export interface DecoderShape {
  readonly hiddenSize: number;
  readonly layers: number;
  readonly heads: number;
  readonly kvHeads: number;
  readonly headDim: number;
  readonly feedForward: number;
  readonly vocabularySize: number;
  readonly contextLength: number;
  readonly normEpsilon: number;
  readonly rope: RotaryEmbedding;
  /** The output matrix is the embedding matrix. */
  readonly tiedEmbeddings: boolean;
  /** Scale of the products of queries and keys; default 1 / √headDim. */
  readonly scale?: number;
  /** SmolLM3: true for each layer that rotates queries and keys; absent if all do. */
  readonly rotatedLayers?: readonly boolean[];
  /** Layers that attend only to the last `size` positions, and their rotary embedding if it is a different one. */
  readonly window?: {
    readonly size: number;
    readonly layers: readonly boolean[];
    readonly rope?: RotaryEmbedding;
  };
  /**
   * Gemma 3: gated GELU instead of SiLU, norms that multiply by 1 + weight, and additional norms after each block.
   */
  readonly isGemma?: boolean;
  /** Format of the checkpoint's 4-bit weights, if it has any. */
  readonly packing?: Packing;
  /** Granite and Gemma: factors of the embeddings, of the output of each block, and of the logits. */
  readonly embeddingFactor?: number;
  readonly residualFactor?: number;
  readonly logitsFactor?: number;
  /**
   * The text model of a vision-language model: the token whose embedding is replaced by a part of an image. The names
   * of its tensors begin with `model.text_model.`.
   */
  readonly imageTokenId?: number;
}

/** The parts of a decoder's shape that attention over a cache needs. */
export type AttentionShape = Pick<
  DecoderShape,
  | 'hiddenSize'
  | 'layers'
  | 'heads'
  | 'kvHeads'
  | 'headDim'
  | 'vocabularySize'
  | 'contextLength'
  | 'scale'
  | 'rotatedLayers'
  | 'window'
> & {
  /** Absent if positions are added to the token embeddings. */
  readonly rope?: RotaryEmbedding;
};

const ropeSchema = z.looseObject({
  /** transformers 5 stores one rotary embedding for each type of layer, if they differ. */
  full_attention: z.looseObject({}).optional(),
  sliding_attention: z.looseObject({}).optional(),
  rope_theta: z.number().positive().optional(),
  rope_type: z.string().optional(),
  type: z.string().optional(),
  partial_rotary_factor: z.number().optional(),
});

const configSchema = z.looseObject({
  model_type: z.string(),
  hidden_size: z.int().positive(),
  num_hidden_layers: z.int().positive(),
  num_attention_heads: z.int().positive(),
  num_key_value_heads: z.int().positive().nullish(),
  head_dim: z.int().positive().nullish(),
  intermediate_size: z.int().positive(),
  vocab_size: z.int().positive(),
  max_position_embeddings: z.int().positive(),
  rms_norm_eps: z.number().positive().default(1e-6),
  hidden_act: z.string().optional(),
  hidden_activation: z.string().optional(),
  tie_word_embeddings: z.boolean().optional(),
  rope_theta: z.number().positive().optional(),
  rope_scaling: ropeSchema.nullish(),
  rope_parameters: ropeSchema.nullish(),
  sliding_window: z.int().positive().nullish(),
  use_sliding_window: z.boolean().optional(),
  partial_rotary_factor: z.number().optional(),
  quantization_config: z.unknown().optional(),
  layer_types: z.array(z.string()).nullish(),
  sliding_window_pattern: z.int().positive().default(6),
  rope_local_base_freq: z.number().positive().default(10_000),
  query_pre_attn_scalar: z.number().positive().optional(),
  attn_logit_softcapping: z.number().nullish(),
  final_logit_softcapping: z.number().nullish(),
  use_bidirectional_attention: z.boolean().nullish(),
  no_rope_layers: z.array(z.int()).nullish(),
  no_rope_layer_interval: z.int().positive().default(4),
  attention_multiplier: z.number().positive().optional(),
  embedding_multiplier: z.number().positive().optional(),
  residual_multiplier: z.number().positive().optional(),
  logits_scaling: z.number().positive().optional(),
});
type Config = z.infer<typeof configSchema>;

const gemma = 'gemma3_text';
const supportedTypes = new Set(['llama', 'mistral', 'qwen2', 'qwen3', 'smollm3', 'granite', gemma]);

/** Rotary tables are constants of the graph; this limits their size. */
const maxContextLength = 32_768;

/**
 * Reads a decoder's config.json, or the text model's part of a vision-language model's. Errors: UnsupportedModelError
 * for any option that the graph does not support.
 */
export async function readDecoderShape(modelDirectory: string): Promise<DecoderShape> {
  const stored = await readConfig(modelDirectory);
  if (!isVisionConfig(stored)) return shapeOf(stored, modelDirectory);
  const { config, imageTokenId } = readTextConfig(stored, modelDirectory);
  return { ...shapeOf(config, modelDirectory), imageTokenId };
}

function shapeOf(stored: unknown, modelDirectory: string): DecoderShape {
  const config = parseConfig(configSchema, stored, modelDirectory);
  const obstacle = findObstacle(config);
  if (obstacle) throw new UnsupportedModelError(obstacle, modelDirectory);
  return toShape(config, readRopes(config, modelDirectory));
}

/** Describes the first option that the graph does not support. */
function findObstacle(config: Config): string | undefined {
  const { partial_rotary_factor: partialRotary = config.rope_parameters?.partial_rotary_factor } = config;
  const headDim = config.head_dim ?? config.hidden_size / config.num_attention_heads;
  if (!supportedTypes.has(config.model_type)) return `model_type "${config.model_type}"`;
  const packing = config.quantization_config && readPacking(config.quantization_config);
  if (typeof packing === 'string') return packing;
  const wanted = config.model_type === gemma ? 'gelu_pytorch_tanh' : 'silu';
  const activation = config.hidden_activation ?? config.hidden_act ?? wanted;
  if (activation !== wanted) return `hidden_act "${activation}"`;
  if (config.attn_logit_softcapping || config.final_logit_softcapping) return 'logit softcapping';
  if (config.use_bidirectional_attention) return 'use_bidirectional_attention';
  if (partialRotary !== undefined && partialRotary !== 1) return `partial_rotary_factor ${partialRotary}`;
  const layerType = config.layer_types?.find((type) => !/^(full|sliding)_attention$/.test(type));
  if (layerType !== undefined) return `layer_types "${layerType}"`;
  if (!Number.isInteger(headDim) || headDim % 2 === 1) return `a head dimension of ${headDim}`;
  if (config.num_attention_heads % (config.num_key_value_heads ?? 1) !== 0)
    return `${config.num_attention_heads} query heads over ${config.num_key_value_heads} KV heads`;
  return undefined;
}

/** Bases of rotary embeddings that a config.json may leave out, where they are not 10,000. */
const usualTheta: Readonly<Record<string, number>> = { [gemma]: 1_000_000, smollm3: 2_000_000 };

/** Rotary embeddings of the layers that attend to all positions, and of layers with a window. */
interface Ropes {
  readonly full: RotaryEmbedding;
  readonly sliding: RotaryEmbedding;
}

/** Reads the rotary embeddings in the older form, or in that of transformers 5, which may have one for each type of layer. */
function readRopes(config: Config, modelDirectory: string): Ropes {
  const stored = config.rope_parameters ?? config.rope_scaling ?? {};
  const nested = Object.entries(stored).filter(([, value]) => typeof value === 'object' && value !== null);
  const local: RotaryEmbedding = { theta: config.rope_local_base_freq, scaling: { rope_type: 'default' } };
  const theta = config.rope_theta ?? usualTheta[config.model_type] ?? 10_000;
  if (nested.length === 0) return { full: readRope(stored, theta, modelDirectory), sliding: local };
  const { full_attention: full, sliding_attention: sliding = {} } = stored;
  const unknown = nested.find(([name]) => name !== 'full_attention' && name !== 'sliding_attention');
  if (unknown || !full || config.model_type !== gemma)
    throw new UnsupportedModelError(
      `rope_parameters of "${unknown?.[0] ?? 'each type of layer'}"`,
      modelDirectory,
    );
  return {
    full: readRope(full, theta, modelDirectory),
    sliding: readRope(sliding, local.theta, modelDirectory),
  };
}

function readRope(
  stored: z.infer<typeof ropeSchema>,
  usual: number,
  modelDirectory: string,
): RotaryEmbedding {
  const partial = stored.partial_rotary_factor ?? 1;
  if (partial !== 1) throw new UnsupportedModelError(`partial_rotary_factor ${partial}`, modelDirectory);
  const type = stored.rope_type ?? stored.type ?? 'default';
  const scaling = ropeScalingSchema.safeParse({ ...stored, rope_type: type });
  if (!scaling.success) throw new UnsupportedModelError(`rope_scaling of type "${type}"`, modelDirectory);
  return { theta: stored.rope_theta ?? usual, scaling: scaling.data };
}

function toShape(config: Config, ropes: Ropes): DecoderShape {
  return {
    hiddenSize: config.hidden_size,
    layers: config.num_hidden_layers,
    heads: config.num_attention_heads,
    kvHeads: config.num_key_value_heads ?? config.num_attention_heads,
    headDim: config.head_dim ?? config.hidden_size / config.num_attention_heads,
    feedForward: config.intermediate_size,
    vocabularySize: config.vocab_size,
    contextLength: Math.min(config.max_position_embeddings, slidingWindow(config), maxContextLength),
    normEpsilon: config.rms_norm_eps,
    rope: ropes.full,
    tiedEmbeddings: config.tie_word_embeddings ?? config.model_type === gemma,
    ...packingOf(config),
    ...(config.model_type === 'smollm3' && { rotatedLayers: rotatedLayers(config) }),
    ...(config.model_type === 'granite' && graniteFactors(config)),
    ...(config.model_type === 'mistral' && mistralWindow(config)),
    ...(config.model_type === gemma && gemmaParts(config, ropes)),
  };
}

function packingOf({ quantization_config: stored }: Config): Pick<DecoderShape, 'packing'> {
  const packing = stored ? readPacking(stored) : undefined;
  return typeof packing === 'object' ? { packing } : {};
}

/** In SmolLM3 every fourth layer is without positions, unless its config.json lists other layers. */
function rotatedLayers(config: Config): boolean[] {
  const every = config.no_rope_layer_interval;
  return Array.from({ length: config.num_hidden_layers }, (_, layer) =>
    config.no_rope_layers ? config.no_rope_layers[layer] !== 0 : (layer + 1) % every !== 0,
  );
}

function graniteFactors(config: Config) {
  return {
    scale: config.attention_multiplier ?? 1,
    embeddingFactor: config.embedding_multiplier ?? 1,
    residualFactor: config.residual_multiplier ?? 1,
    logitsFactor: 1 / (config.logits_scaling ?? 1),
  };
}

/** Within its window a Qwen with sliding attention attends to all positions, so the context ends with the window. */
function slidingWindow(config: Config): number {
  const isOn = config.model_type.startsWith('qwen') && config.use_sliding_window;
  return isOn && config.sliding_window ? config.sliding_window : Number.POSITIVE_INFINITY;
}

function mistralWindow({ sliding_window: size, num_hidden_layers: layers }: Config) {
  return size ? { window: { size, layers: Array.from({ length: layers }, () => true) } } : {};
}

/** Most layers have a window and have their own rotary base; every sixth layer attends to all positions. */
function gemmaParts(config: Config, { sliding: rope }: Ropes) {
  const { layer_types: types, sliding_window: size, sliding_window_pattern: every } = config;
  const layers = Array.from({ length: config.num_hidden_layers }, (_, layer) =>
    types ? types[layer] === 'sliding_attention' : (layer + 1) % every !== 0,
  );
  const width = config.query_pre_attn_scalar ?? config.head_dim ?? 256;
  return {
    isGemma: true,
    scale: width ** -0.5,
    embeddingFactor: Math.sqrt(config.hidden_size),
    ...(size && { window: { size, layers, rope } }),
  };
}
