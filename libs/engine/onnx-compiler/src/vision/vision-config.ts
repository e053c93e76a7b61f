import { z } from 'zod';
import { parseConfig, readConfig, UnsupportedModelError } from '../config-file.js';
import { type Activation, activations } from '../encoder/encoder-config.js';

/** The parts of a vision-language model's config.json that determine the graph of its vision tower. */
export interface VisionShape {
  readonly hiddenSize: number;
  readonly layers: number;
  readonly heads: number;
  readonly feedForward: number;
  readonly activation: Activation;
  readonly normEpsilon: number;
  /** Side of a tile, in pixels. */
  readonly tileSize: number;
  /** Side of a patch, in pixels. */
  readonly patchSize: number;
  /** Side of the square of patches that becomes one embedding. */
  readonly shuffle: number;
  /** Embeddings of one tile. */
  readonly tokensPerTile: number;
  /** Width of an embedding: the hidden size of the text model. */
  readonly embeddingSize: number;
}

/** Types of models with a SigLIP vision tower, a pixel shuffle and a Llama: SmolVLM and SmolVLM2. */
const visionTypes = ['idefics3', 'smolvlm'] as const;

const size = z.int().positive();

/** Values that a text or vision configuration leaves out are the defaults of transformers. */
const configSchema = z.looseObject({
  model_type: z.enum(visionTypes),
  image_token_id: z.int().nonnegative(),
  scale_factor: size,
  tie_word_embeddings: z.boolean().default(false),
  quantization_config: z.undefined().optional(),
  text_config: z.looseObject({
    model_type: z.literal('llama').default('llama'),
    hidden_size: size.default(4096),
    intermediate_size: size.default(11_008),
    num_hidden_layers: size.default(32),
    num_attention_heads: size.default(32),
    vocab_size: size.default(32_000),
    max_position_embeddings: size.default(2048),
  }),
  vision_config: z.looseObject({
    hidden_size: size.default(1152),
    intermediate_size: size.default(3072),
    num_hidden_layers: size.default(12),
    num_attention_heads: size.default(16),
    num_channels: z.literal(3).default(3),
    image_size: size.default(224),
    patch_size: size.default(32),
    hidden_act: z.enum(Object.keys(activations) as [Activation]).default('gelu_pytorch_tanh'),
    layer_norm_eps: z.number().positive().default(1e-6),
  }),
});

/** Returns true if a config.json describes a model that also takes images. */
export function isVisionConfig(stored: unknown): boolean {
  const type = (stored as { model_type?: unknown } | null)?.model_type;
  return visionTypes.some((known) => known === type);
}

/**
 * Returns the text model's part of a vision-language model's config.json, as a config.json of a decoder, and the token
 * that stands for a part of an image. Errors: UnsupportedModelError.
 */
export function readTextConfig(
  stored: unknown,
  modelDirectory: string,
): { config: Record<string, unknown>; imageTokenId: number } {
  const parsed = parseConfig(configSchema, stored, modelDirectory, 'a vision-language');
  const { text_config: config, tie_word_embeddings, image_token_id: imageTokenId } = parsed;
  return { config: { ...config, tie_word_embeddings }, imageTokenId };
}

/** Reads the vision tower's shape. Errors: UnsupportedModelError for another model, or a shape that is not served. */
export async function readVisionShape(modelDirectory: string): Promise<VisionShape> {
  const stored = await readConfig(modelDirectory);
  const config = parseConfig(configSchema, stored, modelDirectory, 'a vision-language');
  const { vision_config: vision, scale_factor: shuffle } = config;
  const side = Math.floor(vision.image_size / vision.patch_size);
  if (vision.hidden_size % vision.num_attention_heads)
    throw new UnsupportedModelError('vision heads that do not divide hidden_size', modelDirectory);
  if (side === 0 || side % shuffle)
    throw new UnsupportedModelError(`a scale_factor of ${shuffle} over ${side} patches`, modelDirectory);
  return {
    hiddenSize: vision.hidden_size,
    layers: vision.num_hidden_layers,
    heads: vision.num_attention_heads,
    feedForward: vision.intermediate_size,
    activation: vision.hidden_act,
    normEpsilon: vision.layer_norm_eps,
    tileSize: vision.image_size,
    patchSize: vision.patch_size,
    shuffle,
    tokensPerTile: (side / shuffle) ** 2,
    embeddingSize: config.text_config.hidden_size,
  };
}
