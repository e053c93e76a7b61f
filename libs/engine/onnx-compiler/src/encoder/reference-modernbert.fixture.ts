import { add, attend, dot, erf, heads, linear, row, type Vector } from '../onnx/arithmetic.fixture.js';
import type { FixtureTensors } from '../checkpoint/checkpoint.fixture.js';

/** Shape of a generated ModernBERT whose window, of two positions on either side, cuts its texts. */
export const tinyModernBert = {
  model_type: 'modernbert',
  hidden_size: 32,
  num_hidden_layers: 4,
  num_attention_heads: 4,
  intermediate_size: 24,
  vocab_size: 64,
  max_position_embeddings: 48,
  norm_eps: 1e-5,
  hidden_activation: 'gelu',
  global_rope_theta: 160_000,
  local_rope_theta: 100,
  global_attn_every_n_layers: 3,
  local_attention: 4,
  pad_token_id: 0,
  classifier_pooling: 'mean' as 'mean' | 'cls',
};
type Config = typeof tinyModernBert;

/** Names and shapes of the tensors of a ModernBERT; with `classes`, of a classifier. */
export function modernBertShapes(config: Config, classes?: number): Record<string, number[]> {
  const { hidden_size: hidden, intermediate_size: inner } = config;
  const prefix = classes ? 'model.' : '';
  const shapes: Record<string, number[]> = {
    [`${prefix}embeddings.tok_embeddings.weight`]: [config.vocab_size, hidden],
    [`${prefix}embeddings.norm.weight`]: [hidden],
    [`${prefix}final_norm.weight`]: [hidden],
  };
  for (let index = 0; index < config.num_hidden_layers; index++) {
    const layer = `${prefix}layers.${index}`;
    if (index > 0) shapes[`${layer}.attn_norm.weight`] = [hidden];
    shapes[`${layer}.attn.Wqkv.weight`] = [3 * hidden, hidden];
    shapes[`${layer}.attn.Wo.weight`] = [hidden, hidden];
    shapes[`${layer}.mlp_norm.weight`] = [hidden];
    shapes[`${layer}.mlp.Wi.weight`] = [2 * inner, hidden];
    shapes[`${layer}.mlp.Wo.weight`] = [hidden, inner];
  }
  if (!classes) return shapes;
  return {
    ...shapes,
    'head.dense.weight': [hidden, hidden],
    'head.norm.weight': [hidden],
    'classifier.weight': [classes, hidden],
    'classifier.bias': [classes],
  };
}

const gelu = (x: number): number => (x * (1 + erf(x / Math.SQRT2))) / 2;

/** Layer normalization without an offset. */
function norm(tensors: FixtureTensors, name: string, input: Vector, epsilon: number): Vector {
  const mean = input.reduce((sum, value) => sum + value, 0) / input.length;
  const centered = input.map((value) => value - mean);
  const scale = 1 / Math.sqrt(dot(centered, centered) / input.length + epsilon);
  return centered.map((value, i) => value * scale * tensors[`${name}.weight`]!.values[i]!);
}

/** Computes the token states of a ModernBERT in double precision, from its definition. */
export function modernBertStates(tensors: FixtureTensors, ids: readonly number[], config: Config): Vector[] {
  const prefix = tensors['model.final_norm.weight'] ? 'model.' : '';
  const { norm_eps: epsilon } = config;
  const table = tensors[`${prefix}embeddings.tok_embeddings.weight`]!;
  let states = ids.map((id) => norm(tensors, `${prefix}embeddings.norm`, row(table, id), epsilon));
  for (let index = 0; index < config.num_hidden_layers; index++) {
    const layer = `${prefix}layers.${index}`;
    const inputs =
      index === 0 ? states : states.map((state) => norm(tensors, `${layer}.attn_norm`, state, epsilon));
    const attended = attention(tensors, layer, inputs, {
      config,
      isLocal: index % config.global_attn_every_n_layers !== 0,
    });
    const middles = states.map((state, token) =>
      add(state, linear(tensors, `${layer}.attn.Wo`, attended[token]!)),
    );
    states = middles.map((middle) => {
      const joint = linear(tensors, `${layer}.mlp.Wi`, norm(tensors, `${layer}.mlp_norm`, middle, epsilon));
      const half = joint.length / 2;
      const inner = joint.slice(0, half).map((value, i) => gelu(value) * joint[half + i]!);
      return add(middle, linear(tensors, `${layer}.mlp.Wo`, inner));
    });
  }
  return states.map((state) => norm(tensors, `${prefix}final_norm`, state, epsilon));
}

function attention(
  tensors: FixtureTensors,
  layer: string,
  inputs: readonly Vector[],
  { config, isLocal }: { config: Config; isLocal: boolean },
): Vector[] {
  const { hidden_size: hidden } = config;
  const width = hidden / config.num_attention_heads;
  const theta = isLocal ? config.local_rope_theta : config.global_rope_theta;
  const joint = inputs.map((input) => linear(tensors, `${layer}.attn.Wqkv`, input));
  const part = (index: number, isRotated: boolean) =>
    joint.map((vector, position) =>
      heads(vector.slice(index * hidden, (index + 1) * hidden), width).map((head) =>
        isRotated ? rotate(head, position, theta) : head,
      ),
    );
  const [queries, keys, values] = [part(0, true), part(1, true), part(2, false)];
  const reach = isLocal ? config.local_attention / 2 : inputs.length;
  return queries.map((query, token) =>
    query.flatMap((head, index) => {
      const seen = (all: readonly Vector[][]) =>
        all.slice(Math.max(0, token - reach), token + reach + 1).map((position) => position[index]!);
      return attend(head, seen(keys), seen(values));
    }),
  );
}

/** Rotary embedding of one head: dimension i turns with dimension i + width / 2. */
function rotate(head: Vector, position: number, theta: number): Vector {
  const half = head.length / 2;
  return head.map((value, dim) => {
    const angle = position / theta ** ((dim % half) / half);
    const partner = dim < half ? -head[dim + half]! : head[dim - half]!;
    return value * Math.cos(angle) + partner * Math.sin(angle);
  });
}

/** Class scores of a text in double precision. */
export function modernBertScores(tensors: FixtureTensors, ids: readonly number[], config: Config): Vector {
  const states = modernBertStates(tensors, ids, config);
  const mean = states[0]!.map(
    (_value, i) => states.reduce((sum, state) => sum + state[i]!, 0) / states.length,
  );
  const pooled = config.classifier_pooling === 'cls' ? states[0]! : mean;
  const inner = linear(tensors, 'head.dense', pooled).map(gelu);
  return linear(tensors, 'classifier', norm(tensors, 'head.norm', inner, config.norm_eps));
}
