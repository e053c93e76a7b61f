import { add, attend, erf, heads, layerNorm, linear, row, type Vector } from '../onnx/arithmetic.fixture.js';
import type { FixtureTensors } from '../checkpoint/checkpoint.fixture.js';

/** Shape of a generated RoBERTa. */
export const tinyRoberta = {
  model_type: 'xlm-roberta',
  hidden_size: 32,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  intermediate_size: 48,
  vocab_size: 64,
  max_position_embeddings: 40,
  type_vocab_size: 1,
  pad_token_id: 1,
  hidden_act: 'gelu',
  layer_norm_eps: 1e-5,
};

/** Names and shapes of a RoBERTa for sequence classification. */
export function robertaShapes(config = tinyRoberta, classes = 3): Record<string, number[]> {
  const { hidden_size: hidden, intermediate_size: inner } = config;
  const shapes: Record<string, number[]> = {
    'roberta.embeddings.word_embeddings.weight': [config.vocab_size, hidden],
    'roberta.embeddings.position_embeddings.weight': [config.max_position_embeddings, hidden],
    'roberta.embeddings.token_type_embeddings.weight': [config.type_vocab_size, hidden],
  };
  const dense = (name: string, outputs: number, inputs: number): void => {
    shapes[`${name}.weight`] = [outputs, inputs];
    shapes[`${name}.bias`] = [outputs];
  };
  const norm = (name: string): void => {
    shapes[`${name}.weight`] = [hidden];
    shapes[`${name}.bias`] = [hidden];
  };
  norm('roberta.embeddings.LayerNorm');
  for (let index = 0; index < config.num_hidden_layers; index++) {
    const layer = `roberta.encoder.layer.${index}`;
    for (const part of ['query', 'key', 'value']) dense(`${layer}.attention.self.${part}`, hidden, hidden);
    dense(`${layer}.attention.output.dense`, hidden, hidden);
    norm(`${layer}.attention.output.LayerNorm`);
    dense(`${layer}.intermediate.dense`, inner, hidden);
    dense(`${layer}.output.dense`, hidden, inner);
    norm(`${layer}.output.LayerNorm`);
  }
  dense('classifier.dense', hidden, hidden);
  dense('classifier.out_proj', classes, hidden);
  return shapes;
}

const gelu = (x: number): number => (x * (1 + erf(x / Math.SQRT2))) / 2;

/** Computes the token states of a RoBERTa in double precision, from its definition. */
export function robertaStates(
  tensors: FixtureTensors,
  ids: readonly number[],
  config = tinyRoberta,
): Vector[] {
  const table = (name: string) => tensors[`roberta.embeddings.${name}.weight`]!;
  const epsilon = config.layer_norm_eps;
  let states = ids.map((id, index) => {
    const position = row(table('position_embeddings'), config.pad_token_id + 1 + index);
    const sum = add(add(row(table('word_embeddings'), id), position), row(table('token_type_embeddings'), 0));
    return layerNorm(tensors, 'roberta.embeddings.LayerNorm', sum, epsilon);
  });
  for (let index = 0; index < config.num_hidden_layers; index++)
    states = layer(tensors, `roberta.encoder.layer.${index}`, states, config);
  return states;
}

function layer(
  tensors: FixtureTensors,
  name: string,
  states: readonly Vector[],
  config: typeof tinyRoberta,
): Vector[] {
  const width = config.hidden_size / config.num_attention_heads;
  const project = (part: string) =>
    states.map((state) => heads(linear(tensors, `${name}.attention.self.${part}`, state), width));
  const [queries, keys, values] = [project('query'), project('key'), project('value')];
  return states.map((state, token) => {
    const attended = queries[token]!.flatMap((query, head) =>
      attend(
        query,
        keys.map((key) => key[head]!),
        values.map((value) => value[head]!),
      ),
    );
    const output = linear(tensors, `${name}.attention.output.dense`, attended);
    const middle = layerNorm(
      tensors,
      `${name}.attention.output.LayerNorm`,
      add(output, state),
      config.layer_norm_eps,
    );
    const inner = linear(tensors, `${name}.intermediate.dense`, middle).map(gelu);
    const outer = add(linear(tensors, `${name}.output.dense`, inner), middle);
    return layerNorm(tensors, `${name}.output.LayerNorm`, outer, config.layer_norm_eps);
  });
}
