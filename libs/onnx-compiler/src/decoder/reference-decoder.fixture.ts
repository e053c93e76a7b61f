import { add, attend, heads, linear, rmsNorm, row, type Vector } from '../onnx/arithmetic.fixture.js';
import type { FixtureTensors } from '../checkpoint/checkpoint.fixture.js';

/** The part of a decoder's config.json that the reference reads. */
export interface ReferenceConfig {
  readonly model_type: string;
  readonly hidden_size: number;
  readonly num_hidden_layers: number;
  readonly num_attention_heads: number;
  readonly num_key_value_heads: number;
  readonly head_dim: number;
  readonly intermediate_size: number;
  readonly vocab_size: number;
  readonly max_position_embeddings: number;
  readonly rms_norm_eps: number;
  readonly rope_theta: number;
  readonly rope_scaling?: {
    readonly rope_type: string;
    readonly factor: number;
    readonly low_freq_factor?: number;
    readonly high_freq_factor?: number;
    readonly original_max_position_embeddings?: number;
  };
  readonly tie_word_embeddings: boolean;
  /** SmolLM3: 0 where a layer does not rotate. */
  readonly no_rope_layers?: readonly number[];
  readonly attention_multiplier?: number;
  readonly embedding_multiplier?: number;
  readonly residual_multiplier?: number;
  readonly logits_scaling?: number;
}

/** Names and shapes of a decoder's tensors; Qwen2 has biases, Qwen3 norms of heads. */
export function decoderShapes(config: ReferenceConfig): Record<string, number[]> {
  const { hidden_size: hidden, intermediate_size: inner, head_dim: width, model_type: type } = config;
  const queries = config.num_attention_heads * width;
  const keys = config.num_key_value_heads * width;
  const shapes: Record<string, number[]> = {
    'model.embed_tokens.weight': [config.vocab_size, hidden],
    'model.norm.weight': [hidden],
  };
  if (!config.tie_word_embeddings) shapes['lm_head.weight'] = [config.vocab_size, hidden];
  for (let index = 0; index < config.num_hidden_layers; index++) {
    const layer = `model.layers.${index}`;
    const attention = `${layer}.self_attn`;
    shapes[`${layer}.input_layernorm.weight`] = [hidden];
    shapes[`${layer}.post_attention_layernorm.weight`] = [hidden];
    shapes[`${attention}.o_proj.weight`] = [hidden, queries];
    for (const [name, outputs] of [
      ['q_proj', queries],
      ['k_proj', keys],
      ['v_proj', keys],
    ] as const) {
      shapes[`${attention}.${name}.weight`] = [outputs, hidden];
      if (type === 'qwen2') shapes[`${attention}.${name}.bias`] = [outputs];
    }
    if (type === 'qwen3')
      for (const name of ['q_norm', 'k_norm']) shapes[`${attention}.${name}.weight`] = [width];
    shapes[`${layer}.mlp.gate_proj.weight`] = [inner, hidden];
    shapes[`${layer}.mlp.up_proj.weight`] = [inner, hidden];
    shapes[`${layer}.mlp.down_proj.weight`] = [hidden, inner];
  }
  return shapes;
}

/** Computes the logits of every position in double precision: a plain forward pass over the whole sequence. */
export function referenceLogits(
  config: ReferenceConfig,
  tensors: FixtureTensors,
  ids: readonly number[],
): Vector[] {
  const embedding = tensors['model.embed_tokens.weight']!;
  let states = ids.map((id) => scaled(row(embedding, id), config.embedding_multiplier));
  for (let index = 0; index < config.num_hidden_layers; index++)
    states = layer(config, tensors, `model.layers.${index}`, states);
  const head = config.tie_word_embeddings ? embedding : tensors['lm_head.weight']!;
  return states.map((state) =>
    scaled(
      linear({ 'head.weight': head }, 'head', rmsNorm(tensors, 'model.norm', state, config.rms_norm_eps)),
      1 / (config.logits_scaling ?? 1),
    ),
  );
}

function scaled(vector: Vector, factor = 1): Vector {
  return vector.map((value) => value * factor);
}

function layer(
  config: ReferenceConfig,
  tensors: FixtureTensors,
  name: string,
  states: readonly Vector[],
): Vector[] {
  const epsilon = config.rms_norm_eps;
  const inputs = states.map((state) => rmsNorm(tensors, `${name}.input_layernorm`, state, epsilon));
  const attention = `${name}.self_attn`;
  const queries = project(config, tensors, `${attention}.q`, inputs);
  const keys = project(config, tensors, `${attention}.k`, inputs);
  const values = inputs.map((input) => heads(linear(tensors, `${attention}.v_proj`, input), config.head_dim));
  const group = config.num_attention_heads / config.num_key_value_heads;
  return states.map((state, token) => {
    const attended = queries[token]!.flatMap((query, head) => {
      const visible = (all: readonly Vector[][]): Vector[] =>
        all.slice(0, token + 1).map((position) => position[Math.floor(head / group)]!);
      // `attend` divides by the root of the width.
      const factor = (config.attention_multiplier ?? config.head_dim ** -0.5) * config.head_dim ** 0.5;
      return attend(scaled(query, factor), visible(keys), visible(values));
    });
    const residual = config.residual_multiplier;
    const middle = add(state, scaled(linear(tensors, `${attention}.o_proj`, attended), residual));
    return add(
      middle,
      scaled(
        feedForward(tensors, name, rmsNorm(tensors, `${name}.post_attention_layernorm`, middle, epsilon)),
        residual,
      ),
    );
  });
}

/** Queries or keys of all tokens by head: projected, normalized where the model does, rotated. */
function project(
  config: ReferenceConfig,
  tensors: FixtureTensors,
  name: string,
  inputs: readonly Vector[],
): Vector[][] {
  return inputs.map((input, position) =>
    heads(linear(tensors, `${name}_proj`, input), config.head_dim).map((head) => {
      const normed = tensors[`${name}_norm.weight`]
        ? rmsNorm(tensors, `${name}_norm`, head, config.rms_norm_eps)
        : head;
      const layer = Number(/layers\.(\d+)\./.exec(name)?.[1]);
      return config.no_rope_layers?.[layer] === 0 ? normed : rotate(config, normed, position);
    }),
  );
}

function feedForward(tensors: FixtureTensors, name: string, input: Vector): Vector {
  const gate = linear(tensors, `${name}.mlp.gate_proj`, input);
  const up = linear(tensors, `${name}.mlp.up_proj`, input);
  const inner = gate.map((value, i) => (value / (1 + Math.exp(-value))) * up[i]!);
  return linear(tensors, `${name}.mlp.down_proj`, inner);
}

/** Rotary embedding of one head: dimension i turns with dimension i + width / 2. */
function rotate(config: ReferenceConfig, head: Vector, position: number): Vector {
  const half = head.length / 2;
  return head.map((value, dim) => {
    const pair = dim % half;
    const angle = position * frequency(config, pair);
    const partner = dim < half ? -head[dim + half]! : head[dim - half]!;
    return value * Math.cos(angle) + partner * Math.sin(angle);
  });
}

function frequency(config: ReferenceConfig, pair: number): number {
  const plain = 1 / config.rope_theta ** ((2 * pair) / config.head_dim);
  const scaling = config.rope_scaling;
  if (scaling?.rope_type === 'linear') return plain / scaling.factor;
  if (scaling?.rope_type !== 'llama3') return plain;
  const { factor, low_freq_factor: low = 1, high_freq_factor: high = 4 } = scaling;
  const original = scaling.original_max_position_embeddings!;
  const wavelength = (2 * Math.PI) / plain;
  if (wavelength < original / high) return plain;
  if (wavelength > original / low) return plain / factor;
  const smooth = (original / wavelength - low) / (high - low);
  return (1 - smooth) * (plain / factor) + smooth * plain;
}
