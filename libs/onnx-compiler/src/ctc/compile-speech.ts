import { join } from 'node:path';
import { compileOnce } from '../compile-cache.js';
import { detectIntegerKernel } from '../onnx/detect-integer-kernel.js';
import type { IntegerKernel } from '../onnx/graph-builder.js';
import type { LinearMode } from '../quantization/linear.js';
import { writeOnnxFile } from '../onnx/onnx-file.js';
import { withCheckpoint } from '../checkpoint/safetensors.js';
import { readSpeechShape } from './speech-config.js';
import { SpeechGraphWriter, type SpeechGraphOptions } from './speech-graph.js';

/** Options of {@link compileSpeech}. */
export interface CompileSpeechOptions {
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
export interface CompiledSpeech {
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
