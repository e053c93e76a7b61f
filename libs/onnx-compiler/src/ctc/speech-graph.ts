import { GraphBuilder, type IntegerKernel } from '../onnx/graph-builder.js';
import { LinearLayers, type LinearMode } from '../quantization/linear.js';
import { linearWeights, matrix } from '../checkpoint/weights.js';
import type { Graph } from '../onnx/onnx-file.js';
import type { SafetensorsReader } from '../checkpoint/safetensors.js';
import type { SpeechShape } from './speech-config.js';

/** Options of {@link SpeechGraphWriter}. */
export interface SpeechGraphOptions {
  readonly linear: LinearMode;
  readonly kernel: IntegerKernel;
}

/** The time axis of `[batch, frames, channels]`. */
const time = 1;
const end = Number.MAX_SAFE_INTEGER;

/**
 * Writes the serving graph of a `nano-ctc` model, a time-delay neural network; see CompiledSpeech for its input and
 * output. Every layer is a matrix product over concatenated frames, so that int8 kernels serve all of it.
 */
export class SpeechGraphWriter {
  private readonly graph: GraphBuilder;
  private readonly linear: LinearLayers;

  constructor(
    private readonly shape: SpeechShape,
    private readonly reader: SafetensorsReader,
    { linear, kernel }: SpeechGraphOptions,
  ) {
    this.graph = new GraphBuilder(kernel);
    this.linear = new LinearLayers(this.graph, linear);
  }

  write(): Graph {
    const { graph, shape } = this;
    const [first, second] = shape.stack;
    const features = graph.input('input_features', 'float32', ['batch', 'frames', shape.bands]);
    const whole = this.padded(features, first * second);
    const stem = this.stem('stem.0', this.stacked(whole, first, shape.bands));
    const stemSize = this.reader.shape('stem.0.weight')[0]!;
    let state = this.stem('stem.1', this.stacked(stem, second, stemSize));
    for (const [index, dilation] of shape.dilations.entries())
      state = this.block(`blocks.${index}`, state, dilation);
    const logits = this.project(this.norm(state, 'norm'), 'output');
    graph.op('Identity', [logits], { output: 'logits' });
    graph.output('logits', 'float32', ['batch', 'steps', shape.vocabularySize]);
    return graph.build('speech');
  }

  /** Pads the audio to a multiple of the step with zeros, which are the mean of normalized features. */
  private padded(features: string, step: number): string {
    const { graph } = this;
    const frames = graph.op('Slice', [
      graph.op('Shape', [features]),
      graph.int64([time]),
      graph.int64([time + 1]),
    ]);
    const missing = graph.op('Mod', [graph.op('Neg', [frames]), graph.int64([step])]);
    const pads = graph.op('Concat', [graph.int64([0, 0, 0, 0]), missing, graph.int64([0])], {
      attributes: { axis: 0 },
    });
    return graph.op('Pad', [features, pads]);
  }

  /** `[B, T, C]` → `[B, T / count, count · C]`. */
  private stacked(value: string, count: number, channels: number): string {
    return this.graph.op('Reshape', [value, this.graph.int64([0, -1, count * channels])]);
  }

  private stem(name: string, value: string): string {
    return this.graph.op('Relu', [this.project(this.withNeighbours(value, 1), name)]);
  }

  private block(name: string, state: string, dilation: number): string {
    const { graph } = this;
    const context = this.withNeighbours(this.norm(state, `${name}.norm`), dilation);
    const inner = graph.op('Relu', [this.project(context, `${name}.up`)]);
    return graph.op('Add', [state, this.project(inner, `${name}.down`)]);
  }

  /**
   * `[B, T, C]` → `[B, T, 3C]`: the frame `distance` earlier, the frame, and the frame `distance` later; zeros
   * outside.
   */
  private withNeighbours(value: string, distance: number): string {
    const { graph } = this;
    const padded = graph.op('Pad', [value, graph.int64([0, distance, 0, 0, distance, 0])]);
    const slice = (from: number, to: number): string =>
      graph.op('Slice', [padded, graph.int64([from]), graph.int64([to]), graph.int64([time])]);
    return graph.op('Concat', [slice(0, -2 * distance), value, slice(2 * distance, end)], {
      attributes: { axis: 2 },
    });
  }

  private project(input: string, name: string): string {
    return this.linear.project(input, linearWeights(this.reader, name, [name]));
  }

  private norm(value: string, name: string): string {
    const [scale, offset] = [`${name}.weight`, `${name}.bias`].map((tensor) => matrix(this.reader, tensor));
    return this.graph.layerNorm(value, { scale: scale!, offset }, this.shape.normEpsilon);
  }
}
