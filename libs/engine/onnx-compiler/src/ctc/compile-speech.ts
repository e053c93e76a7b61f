import { join } from 'node:path';
import { z } from 'zod';
import { withCheckpoint, type SafetensorsReader } from '../checkpoint/safetensors.js';
import { linearWeights, matrix } from '../checkpoint/weights.js';
import { compileOnce } from '../compile-cache.js';
import { parseConfig, readConfig, UnsupportedModelError } from '../config-file.js';
import { detectIntegerKernel, type IntegerKernel, GraphBuilder } from '../onnx/graph-builder.js';
import { writeOnnxFile, type Graph } from '../onnx/onnx-file.js';
import { type LinearMode, LinearLayers } from '../quantization/linear.js';

/** Options of {@link compileSpeech}. */
interface CompileSpeechOptions {
  /** Directory of compiled models; created if missing. */
  readonly cacheDir: string;
  /** `int8` quantizes activations row by row, so that a result does not depend on the rest of the batch. */
  readonly weights: 'fp32' | 'int8';
  /** Default: the kernel of this machine. */
  readonly kernel?: IntegerKernel;
}

/**
 * A compiled CTC model. Input: `input_features` float32 `[B, frames, bands]`, log-mel features normalized as in the
 * model's preprocessor_config.json; shorter rows of a batch are padded with zeros. Output: `logits` float32 `[B,
 * ⌈frames / framesPerStep⌉, vocabularySize]`, scores before the softmax.
 */
interface CompiledSpeech {
  readonly onnxPath: string;
  readonly bands: number;
  /** Feature frames per row of logits. */
  readonly framesPerStep: number;
  readonly vocabularySize: number;
  readonly blankTokenId: number;
  readonly weights: 'fp32' | 'int8';
}

/**
 * Writes the serving graph of a `nano-ctc` model, or finds it in the cache. `modelDirectory` holds config.json and
 * safetensors. Errors: UnsupportedModelError if the architecture or a tensor is unknown.
 */
export async function compileSpeech(
  modelDirectory: string,
  options: CompileSpeechOptions,
): Promise<CompiledSpeech> {
  const linear: LinearMode = options.weights === 'fp32' ? 'fp32' : 'int8-row';
  const kernel = linear === 'fp32' ? 'exact' : (options.kernel ?? (await detectIntegerKernel()));
  const { directory, description } = await compileOnce(
    modelDirectory,
    options.cacheDir,
    { kind: 'speech', linear, kernel },
    (target) => writeSpeech(modelDirectory, target, { linear, kernel }),
  );
  return { onnxPath: join(directory, 'model.onnx'), ...description, weights: options.weights };
}

async function writeSpeech(
  modelDirectory: string,
  target: string,
  options: SpeechGraphOptions,
): Promise<Omit<CompiledSpeech, 'onnxPath' | 'weights'>> {
  const shape = await readSpeechShape(modelDirectory);
  await withCheckpoint(modelDirectory, (reader) => {
    const graph = new SpeechGraphWriter(shape, reader, options).write();
    return { isIgnorable: () => false, write: () => writeOnnxFile(target, graph) };
  });
  const { bands, stack, vocabularySize, blankTokenId } = shape;
  return { bands, framesPerStep: stack[0] * stack[1], vocabularySize, blankTokenId };
}

/** The parts of a speech model's config.json that determine its graph. */
interface SpeechShape {
  /** Mel bands of a frame. */
  readonly bands: number;
  /**
   * Number of frames that are concatenated before the first and before the second layer of the stem; their product
   * is the step.
   */
  readonly stack: readonly [number, number];
  readonly hiddenSize: number;
  /** Dilation of each block: the distance to its neighbor frames. */
  readonly dilations: readonly number[];
  readonly vocabularySize: number;
  readonly blankTokenId: number;
  readonly normEpsilon: number;
}

const configSchema = z.looseObject({
  model_type: z.string(),
  n_mels: z.int().positive(),
  stack: z.tuple([z.int().positive(), z.int().positive()]),
  hidden_size: z.int().positive(),
  dilations: z.array(z.int().positive()).min(1),
  vocab_size: z.int().positive(),
  blank_token_id: z.int().min(0),
  layer_norm_eps: z.number().positive().default(1e-5),
});

/** Reads the config.json of a `nano-ctc` model. Errors: UnsupportedModelError for any other model. */
export async function readSpeechShape(modelDirectory: string): Promise<SpeechShape> {
  const content = await readConfig(modelDirectory);
  const { model_type: type } = z.looseObject({ model_type: z.unknown() }).parse(content);
  if (type !== 'nano-ctc')
    throw new UnsupportedModelError(`model_type ${JSON.stringify(type)}`, modelDirectory);
  const config = parseConfig(configSchema, content, modelDirectory);
  return {
    bands: config.n_mels,
    stack: config.stack,
    hiddenSize: config.hidden_size,
    dilations: config.dilations,
    vocabularySize: config.vocab_size,
    blankTokenId: config.blank_token_id,
    normEpsilon: config.layer_norm_eps,
  };
}

/** Options of {@link SpeechGraphWriter}. */
interface SpeechGraphOptions {
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
class SpeechGraphWriter {
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
    return this.graph.op('Relu', [this.project(this.withNeighbors(value, 1), name)]);
  }

  private block(name: string, state: string, dilation: number): string {
    const { graph } = this;
    const context = this.withNeighbors(this.norm(state, `${name}.norm`), dilation);
    const inner = graph.op('Relu', [this.project(context, `${name}.up`)]);
    return graph.op('Add', [state, this.project(inner, `${name}.down`)]);
  }

  /**
   * `[B, T, C]` → `[B, T, 3C]`: the frame `distance` earlier, the frame, and the frame `distance` later; zeros
   * outside.
   */
  private withNeighbors(value: string, distance: number): string {
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
