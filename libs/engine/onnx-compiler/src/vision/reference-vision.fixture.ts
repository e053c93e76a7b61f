import { type FixtureTensors, randomTensors } from '../checkpoint/checkpoint.fixture.js';
import { decoderShapes, type ReferenceConfig, smallLlama } from '../decoder/reference-decoder.fixture.js';
import { add, attend, heads, layerNorm, linear, row, type Vector } from '../onnx/arithmetic.fixture.js';

/** The part of a vision-language model's config.json that the reference reads. */
export interface ReferenceVisionConfig {
  readonly model_type: 'idefics3' | 'smolvlm';
  readonly image_token_id: number;
  readonly scale_factor: number;
  readonly tie_word_embeddings: boolean;
  readonly text_config: ReferenceConfig;
  readonly vision_config: {
    readonly hidden_size: number;
    readonly intermediate_size: number;
    readonly num_hidden_layers: number;
    readonly num_attention_heads: number;
    readonly image_size: number;
    readonly patch_size: number;
    readonly layer_norm_eps: number;
  };
}

/** A small SmolVLM: tiles of 32 pixels, 16 patches and 4 embeddings. */
export const smallVision: ReferenceVisionConfig = {
  model_type: 'idefics3',
  image_token_id: 90,
  scale_factor: 2,
  tie_word_embeddings: false,
  text_config: { ...smallLlama, tie_word_embeddings: false },
  vision_config: {
    hidden_size: 32,
    intermediate_size: 64,
    num_hidden_layers: 2,
    num_attention_heads: 4,
    image_size: 32,
    patch_size: 8,
    layer_norm_eps: 1e-6,
  },
};

/** Random tensors of a vision-language model, with the names of its checkpoint. */
export function visionTensors(config: ReferenceVisionConfig, seed = 1): FixtureTensors {
  const { vision_config: vision, text_config: text, scale_factor: shuffle } = config;
  const { hidden_size: hidden, intermediate_size: inner, patch_size: patch } = vision;
  const shapes: Record<string, number[]> = {};
  for (const [name, shape] of Object.entries(decoderShapes(text)))
    shapes[name.replace(/^model\./, 'model.text_model.')] = shape;
  const tower = 'model.vision_model';
  shapes[`${tower}.embeddings.patch_embedding.weight`] = [hidden, 3, patch, patch];
  shapes[`${tower}.embeddings.patch_embedding.bias`] = [hidden];
  shapes[`${tower}.embeddings.position_embedding.weight`] = [
    Math.floor(vision.image_size / patch) ** 2,
    hidden,
  ];
  for (let index = 0; index < vision.num_hidden_layers; index++) {
    const layer = `${tower}.encoder.layers.${index}`;
    for (const part of ['q_proj', 'k_proj', 'v_proj', 'out_proj']) {
      shapes[`${layer}.self_attn.${part}.weight`] = [hidden, hidden];
      shapes[`${layer}.self_attn.${part}.bias`] = [hidden];
    }
    for (const norm of ['layer_norm1', 'layer_norm2'])
      for (const part of ['weight', 'bias']) shapes[`${layer}.${norm}.${part}`] = [hidden];
    shapes[`${layer}.mlp.fc1.weight`] = [inner, hidden];
    shapes[`${layer}.mlp.fc1.bias`] = [inner];
    shapes[`${layer}.mlp.fc2.weight`] = [hidden, inner];
    shapes[`${layer}.mlp.fc2.bias`] = [hidden];
  }
  for (const part of ['weight', 'bias']) shapes[`${tower}.post_layernorm.${part}`] = [hidden];
  shapes['model.connector.modality_projection.proj.weight'] = [text.hidden_size, hidden * shuffle ** 2];
  return randomTensors(shapes, seed);
}

/** The text model's tensors, with the names of a decoder's checkpoint. */
export function textTensors(tensors: FixtureTensors): FixtureTensors {
  const entries = Object.entries(tensors).filter(([name]) => /^(model\.text_model|lm_head)\./.test(name));
  return Object.fromEntries(
    entries.map(([name, tensor]) => [name.replace(/^model\.text_model\./, 'model.'), tensor]),
  );
}

/**
 * Computes the embeddings of one tile in double precision. `pixels`: `[3, side, side]`, normalized. The pixel shuffle
 * is written by its meaning: an embedding joins the patches of a square, row by row.
 */
export function referenceEmbeddings(
  config: ReferenceVisionConfig,
  tensors: FixtureTensors,
  pixels: Float32Array,
): Vector[] {
  const { vision_config: vision, scale_factor: shuffle } = config;
  const side = Math.floor(vision.image_size / vision.patch_size);
  let states = patches(config, tensors, pixels);
  for (let index = 0; index < vision.num_hidden_layers; index++)
    states = layer(config, tensors, `model.vision_model.encoder.layers.${index}`, states);
  const name = 'model.vision_model.post_layernorm';
  const normed = states.map((state) => layerNorm(tensors, name, state, vision.layer_norm_eps));
  const embeddings: Vector[] = [];
  for (let top = 0; top < side; top += shuffle)
    for (let left = 0; left < side; left += shuffle) {
      const square = Array.from({ length: shuffle ** 2 }, (_, index) => {
        const [down, right] = [Math.floor(index / shuffle), index % shuffle];
        return normed[(top + down) * side + left + right]!;
      });
      embeddings.push(linear(tensors, 'model.connector.modality_projection.proj', square.flat()));
    }
  return embeddings;
}

function patches(
  { vision_config: vision }: ReferenceVisionConfig,
  tensors: FixtureTensors,
  pixels: Float32Array,
): Vector[] {
  const { image_size: size, patch_size: patch, hidden_size: hidden } = vision;
  const side = Math.floor(size / patch);
  const name = 'model.vision_model.embeddings';
  const kernel = tensors[`${name}.patch_embedding.weight`]!.values;
  const bias = tensors[`${name}.patch_embedding.bias`]!.values;
  return Array.from({ length: side * side }, (_, index) => {
    const [top, left] = [Math.floor(index / side) * patch, (index % side) * patch];
    const state = Array.from({ length: hidden }, (_unused, output) => {
      let sum = bias[output]!;
      for (let channel = 0; channel < 3; channel++)
        for (let y = 0; y < patch; y++)
          for (let x = 0; x < patch; x++)
            sum +=
              pixels[(channel * size + top + y) * size + left + x]! *
              kernel[((output * 3 + channel) * patch + y) * patch + x]!;
      return sum;
    });
    return add(state, row(tensors[`${name}.position_embedding.weight`]!, index));
  });
}

function layer(
  { vision_config: vision }: ReferenceVisionConfig,
  tensors: FixtureTensors,
  name: string,
  states: readonly Vector[],
): Vector[] {
  const width = vision.hidden_size / vision.num_attention_heads;
  const inputs = states.map((state) =>
    layerNorm(tensors, `${name}.layer_norm1`, state, vision.layer_norm_eps),
  );
  const project = (part: string): Vector[][] =>
    inputs.map((input) => heads(linear(tensors, `${name}.self_attn.${part}`, input), width));
  const [queries, keys, values] = [project('q_proj'), project('k_proj'), project('v_proj')];
  return states.map((state, patch) => {
    const attended = queries[patch]!.flatMap((query, head) => {
      const all = (parts: readonly Vector[][]): Vector[] => parts.map((part) => part[head]!);
      return attend(query, all(keys), all(values));
    });
    const middle = add(state, linear(tensors, `${name}.self_attn.out_proj`, attended));
    const normed = layerNorm(tensors, `${name}.layer_norm2`, middle, vision.layer_norm_eps);
    const inner = linear(tensors, `${name}.mlp.fc1`, normed).map(tanhGelu);
    return add(middle, linear(tensors, `${name}.mlp.fc2`, inner));
  });
}

const tanhGelu = (x: number): number =>
  0.5 * x * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3)));
