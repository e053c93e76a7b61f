import { join } from 'node:path';
import { compileOnce } from '../compile-cache.js';
import { detectIntegerKernel } from '../onnx/detect-integer-kernel.js';
import type { IntegerKernel } from '../onnx/integer-kernel.js';
import type { LinearMode } from '../onnx/linear.js';
import { writeOnnxFile } from '../onnx/onnx-file.js';
import { withCheckpoint } from '../checkpoint/open-checkpoint.js';
import { readSpeechShape } from './speech-config.js';
import { buildSpeechGraph, type SpeechGraphOptions } from './speech-graph.js';

export interface CompileSpeechOptions {
  /** Where compiled models are kept; made when absent. */
  readonly cacheDir: string;
  /** `int8` multiplies in int8 with activations quantised row by row, so that no audio depends on what lies beside it. */
  readonly weights: 'fp32' | 'int8';
  /** Default: what this machine has. */
  readonly kernel?: IntegerKernel;
}

/**
 * A compiled CTC model. Input: `input_features` float32 `[B, frames, bands]`, normalised log-mel features as the model's
 * preprocessor_config.json says; all rows of a batch are equally long, zeros behind shorter ones. Output: `logits` float32
 * `[B, ⌈frames / framesPerStep⌉, vocabularySize]`, scores before the softmax.
 */
export interface CompiledSpeech {
  readonly onnxPath: string;
  readonly bands: number;
  /** Frames of features for each row of scores. */
  readonly framesPerStep: number;
  readonly vocabularySize: number;
  readonly blankTokenId: number;
  readonly weights: 'fp32' | 'int8';
}

/**
 * Writes the serving graph of a `nano-ctc` model, or finds it in the cache. `modelDirectory` holds config.json and
 * safetensors. Throws UnsupportedModelError when the architecture or a tensor is not known.
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
    const graph = buildSpeechGraph(shape, reader, options);
    return { isHarmless: () => false, write: () => writeOnnxFile(target, graph) };
  });
  const { bands, stack, vocabularySize, blankTokenId } = shape;
  return { bands, framesPerStep: stack[0] * stack[1], vocabularySize, blankTokenId };
}
