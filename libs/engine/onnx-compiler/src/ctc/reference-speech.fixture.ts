import { add, layerNorm, linear, type Vector } from '../onnx/arithmetic.fixture.js';
import type { FixtureTensors } from '../checkpoint/checkpoint.fixture.js';

/** Shape of a generated CTC model. */
export const tinySpeech = {
  model_type: 'nano-ctc',
  n_mels: 6,
  stack: [2, 3] as [number, number],
  stem_size: 8,
  hidden_size: 16,
  intermediate_size: 12,
  dilations: [1, 3],
  vocab_size: 10,
  blank_token_id: 0,
  layer_norm_eps: 1e-5,
};

/** Names and shapes of its tensors. */
export function speechShapes(config = tinySpeech): Record<string, number[]> {
  const shapes: Record<string, number[]> = {};
  const dense = (name: string, outputs: number, inputs: number): void => {
    shapes[`${name}.weight`] = [outputs, inputs];
    shapes[`${name}.bias`] = [outputs];
  };
  const norm = (name: string): void => {
    shapes[`${name}.weight`] = [config.hidden_size];
    shapes[`${name}.bias`] = [config.hidden_size];
  };
  dense('stem.0', config.stem_size, 3 * config.stack[0] * config.n_mels);
  dense('stem.1', config.hidden_size, 3 * config.stack[1] * config.stem_size);
  for (const index of config.dilations.keys()) {
    norm(`blocks.${index}.norm`);
    dense(`blocks.${index}.up`, config.intermediate_size, 3 * config.hidden_size);
    dense(`blocks.${index}.down`, config.hidden_size, config.intermediate_size);
  }
  norm('norm');
  dense('output', config.vocab_size, config.hidden_size);
  return shapes;
}

/** Computes the scores of a CTC model in double precision, from its definition; `frames` may have any length. */
export function speechScores(
  tensors: FixtureTensors,
  frames: readonly Vector[],
  config = tinySpeech,
): Vector[] {
  const [first, second] = config.stack;
  const whole = [...frames];
  while (whole.length % (first * second) !== 0) whole.push(Array.from({ length: config.n_mels }, () => 0));
  const stem = stack(whole, first);
  let state = stack(layer(tensors, 'stem.0', stem), second);
  state = layer(tensors, 'stem.1', state);
  for (const [index, dilation] of config.dilations.entries()) {
    const normed = state.map((x) => layerNorm(tensors, `blocks.${index}.norm`, x, config.layer_norm_eps));
    const inner = layer(tensors, `blocks.${index}.up`, normed, dilation);
    state = state.map((x, at) => add(x, linear(tensors, `blocks.${index}.down`, inner[at]!)));
  }
  return state.map((x) => linear(tensors, 'output', layerNorm(tensors, 'norm', x, config.layer_norm_eps)));
}

/** A linear layer and ReLU over each frame and its two neighbors. */
function layer(tensors: FixtureTensors, name: string, frames: readonly Vector[], distance = 1): Vector[] {
  const outside = frames[0]!.map(() => 0);
  return frames.map((frame, at) => {
    const context = [...(frames[at - distance] ?? outside), ...frame, ...(frames[at + distance] ?? outside)];
    return linear(tensors, name, context).map((value) => Math.max(0, value));
  });
}

function stack(frames: readonly Vector[], count: number): Vector[] {
  return Array.from({ length: frames.length / count }, (_, at) =>
    frames.slice(at * count, (at + 1) * count).flat(),
  );
}
