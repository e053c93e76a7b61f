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
  /** Mistral and Gemma 3. */
  readonly sliding_window?: number;
  readonly layer_types?: readonly string[];
  readonly rope_local_base_freq?: number;
  readonly query_pre_attn_scalar?: number;
  readonly attention_multiplier?: number;
  readonly embedding_multiplier?: number;
  readonly residual_multiplier?: number;
  readonly logits_scaling?: number;
}

/** A small Llama whose widths are multiples of 16. */
export const smallLlama: ReferenceConfig = {
  model_type: 'llama',
  hidden_size: 64,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  head_dim: 16,
  intermediate_size: 96,
  vocab_size: 96,
  max_position_embeddings: 256,
  rms_norm_eps: 1e-6,
  rope_theta: 10_000,
  tie_word_embeddings: true,
};

/** The supported families: what each changes in a small Llama with an output matrix of its own. */
export const decoderFamilies: Record<string, Partial<ReferenceConfig>> = {
  'a Llama with grouped queries': {},
  'a Llama with one head a KV head': { num_key_value_heads: 6 },
  'a Llama 3 with scaled frequencies': {
    rope_theta: 500_000,
    rope_scaling: {
      rope_type: 'llama3',
      factor: 8,
      low_freq_factor: 1,
      high_freq_factor: 4,
      original_max_position_embeddings: 64,
    },
  },
  'a Llama with linear scaling': { rope_scaling: { rope_type: 'linear', factor: 4 } },
  'a Mistral': { model_type: 'mistral' },
  'a Mistral with a window': { model_type: 'mistral', sliding_window: 9 },
  'a Gemma 3 with and without windows': {
    model_type: 'gemma3_text',
    head_dim: 16,
    num_key_value_heads: 1,
    sliding_window: 7,
    layer_types: ['sliding_attention', 'full_attention'],
    rope_theta: 1_000_000,
    rope_local_base_freq: 10_000,
    query_pre_attn_scalar: 12,
    tie_word_embeddings: true,
  },
  'a Qwen2 with biases and tied embeddings': { model_type: 'qwen2', tie_word_embeddings: true },
  'a SmolLM3 whose second layer has no positions': {
    model_type: 'smollm3',
    no_rope_layers: [1, 0],
    tie_word_embeddings: true,
  },
  'a Granite with its factors': {
    model_type: 'granite',
    attention_multiplier: 0.2,
    embedding_multiplier: 6,
    residual_multiplier: 0.22,
    logits_scaling: 4,
  },
  'a Qwen3 with normed heads wider than hidden / heads': { model_type: 'qwen3', head_dim: 16 },
};

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
    if (type === 'gemma3_text')
      for (const place of ['pre', 'post'])
        shapes[`${layer}.${place}_feedforward_layernorm.weight`] = [hidden];
    shapes[`${attention}.o_proj.weight`] = [hidden, queries];
    for (const [name, outputs] of [
      ['q_proj', queries],
      ['k_proj', keys],
      ['v_proj', keys],
    ] as const) {
      shapes[`${attention}.${name}.weight`] = [outputs, hidden];
      if (type === 'qwen2') shapes[`${attention}.${name}.bias`] = [outputs];
    }
    if (type === 'qwen3' || type === 'gemma3_text')
      for (const name of ['q_norm', 'k_norm']) shapes[`${attention}.${name}.weight`] = [width];
    shapes[`${layer}.mlp.gate_proj.weight`] = [inner, hidden];
    shapes[`${layer}.mlp.up_proj.weight`] = [inner, hidden];
    shapes[`${layer}.mlp.down_proj.weight`] = [hidden, inner];
  }
  return shapes;
}

/**
 * Computes the logits of every position in double precision: a plain forward pass over the whole sequence. `images`:
 * vectors that replace the embeddings at some positions.
 */
export function referenceLogits(
  config: ReferenceConfig,
  tensors: FixtureTensors,
  ids: readonly number[],
  images: ReadonlyMap<number, Vector> = new Map(),
): Vector[] {
  const embedding = tensors['model.embed_tokens.weight']!;
  let states = ids.map(
    (id, position) => images.get(position) ?? scaled(row(embedding, id), embeddingFactor(config)),
  );
  for (let index = 0; index < config.num_hidden_layers; index++)
    states = layer(config, tensors, `model.layers.${index}`, states);
  const head = config.tie_word_embeddings ? embedding : tensors['lm_head.weight']!;
  return states.map((state) =>
    scaled(
      linear({ 'head.weight': head }, 'head', norm(config, tensors, 'model.norm', state)),
      1 / (config.logits_scaling ?? 1),
    ),
  );
}

const isGemma = (config: ReferenceConfig): boolean => config.model_type === 'gemma3_text';

function embeddingFactor(config: ReferenceConfig): number | undefined {
  return isGemma(config) ? Math.sqrt(config.hidden_size) : config.embedding_multiplier;
}

/** True if a layer attends only to the last positions. */
function isWindowed(config: ReferenceConfig, layer: number): boolean {
  return config.sliding_window !== undefined && config.layer_types?.[layer] !== 'full_attention';
}

const layerOf = (name: string): number => Number(/layers\.(\d+)\b/.exec(name)?.[1]);

/** Gemma's norms multiply by 1 + weight. */
function norm(config: ReferenceConfig, tensors: FixtureTensors, name: string, vector: Vector): Vector {
  const { shape, values } = tensors[`${name}.weight`]!;
  const weight = { shape, values: values.map((value) => value + (isGemma(config) ? 1 : 0)) };
  return rmsNorm({ [`${name}.weight`]: weight }, name, vector, config.rms_norm_eps);
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
  const inputs = states.map((state) => norm(config, tensors, `${name}.input_layernorm`, state));
  const attention = `${name}.self_attn`;
  const queries = project(config, tensors, `${attention}.q`, inputs);
  const keys = project(config, tensors, `${attention}.k`, inputs);
  const values = inputs.map((input) => heads(linear(tensors, `${attention}.v_proj`, input), config.head_dim));
  const group = config.num_attention_heads / config.num_key_value_heads;
  return states.map((state, token) => {
    const attended = queries[token]!.flatMap((query, head) => {
      const first = isWindowed(config, layerOf(name)) ? Math.max(0, token + 1 - config.sliding_window!) : 0;
      const visible = (all: readonly Vector[][]): Vector[] =>
        all.slice(first, token + 1).map((position) => position[Math.floor(head / group)]!);
      // `attend` divides by the root of the width.
      const wanted = config.attention_multiplier ?? (config.query_pre_attn_scalar ?? config.head_dim) ** -0.5;
      return attend(scaled(query, wanted * config.head_dim ** 0.5), visible(keys), visible(values));
    });
    const residual = config.residual_multiplier;
    const behind = (part: string, vector: Vector): Vector =>
      isGemma(config) ? norm(config, tensors, `${name}.${part}`, vector) : vector;
    const given = behind('post_attention_layernorm', linear(tensors, `${attention}.o_proj`, attended));
    const middle = add(state, scaled(given, residual));
    const before = isGemma(config) ? 'pre_feedforward_layernorm' : 'post_attention_layernorm';
    const inner = feedForward(config, tensors, name, norm(config, tensors, `${name}.${before}`, middle));
    return add(middle, scaled(behind('post_feedforward_layernorm', inner), residual));
  });
}

/** Queries or keys of all tokens by head: projected, normalized if the model does so, rotated. */
function project(
  config: ReferenceConfig,
  tensors: FixtureTensors,
  name: string,
  inputs: readonly Vector[],
): Vector[][] {
  return inputs.map((input, position) =>
    heads(linear(tensors, `${name}_proj`, input), config.head_dim).map((head) => {
      const normed = tensors[`${name}_norm.weight`] ? norm(config, tensors, `${name}_norm`, head) : head;
      const layer = layerOf(name);
      if (config.no_rope_layers?.[layer] === 0) return normed;
      const theta = isWindowed(config, layer) ? config.rope_local_base_freq : undefined;
      return rotate({ ...config, rope_theta: theta ?? config.rope_theta }, normed, position);
    }),
  );
}

function feedForward(config: ReferenceConfig, tensors: FixtureTensors, name: string, input: Vector): Vector {
  const gate = linear(tensors, `${name}.mlp.gate_proj`, input);
  const up = linear(tensors, `${name}.mlp.up_proj`, input);
  const inner = gate.map(
    (value, i) => (isGemma(config) ? tanhGelu(value) : value / (1 + Math.exp(-value))) * up[i]!,
  );
  return linear(tensors, `${name}.mlp.down_proj`, inner);
}

const tanhGelu = (x: number): number =>
  0.5 * x * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3)));

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
