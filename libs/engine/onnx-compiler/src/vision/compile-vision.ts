import { join } from 'node:path';
import { withCheckpoint } from '../checkpoint/safetensors.js';
import { compileOnce } from '../compile-cache.js';
import { detectIntegerKernel, type IntegerKernel } from '../onnx/graph-builder.js';
import { writeOnnxFile } from '../onnx/onnx-file.js';
import { readVisionShape, type VisionShape } from './vision-config.js';
import { isVisionTensor, VisionGraphWriter, type VisionGraphOptions, VisionWeights } from './vision-graph.js';

/** Options of {@link compileVision}. */
export interface CompileVisionOptions {
  /** Directory of compiled models; created if missing. */
  readonly cacheDir: string;
  /** `int8` multiplies in int8 with activations quantized row by row. */
  readonly weights: 'fp32' | 'int8';
  /** Default: the kernel of this machine. */
  readonly kernel?: IntegerKernel;
}

/**
 * A compiled vision tower. It takes `pixel_values` float32 `[tiles, 3, tileSize, tileSize]`, normalized as the model's
 * preprocessor_config.json says, and returns `image_embeddings` float32 `[tiles, tokensPerTile, embeddingSize]`, which
 * replace the embeddings of image tokens in the text model.
 */
export interface CompiledVision extends VisionShape {
  readonly onnxPath: string;
}

/**
 * Writes the graph of the vision tower of a vision-language model (SmolVLM, SmolVLM2), or finds it in the cache.
 * `modelDirectory` holds config.json and safetensors. Errors: UnsupportedModelError for any other model.
 */
export async function compileVision(
  modelDirectory: string,
  options: CompileVisionOptions,
): Promise<CompiledVision> {
  const { cacheDir, weights } = options;
  const linear = weights === 'fp32' ? 'fp32' : 'int8-row';
  const kernel = linear === 'fp32' ? 'exact' : (options.kernel ?? (await detectIntegerKernel()));
  const key = { kind: 'vision', linear, kernel };
  const { directory, description } = await compileOnce(modelDirectory, cacheDir, key, (target) =>
    writeVision(modelDirectory, target, { linear, kernel }),
  );
  return { ...description, onnxPath: join(directory, 'model.onnx') };
}

async function writeVision(
  modelDirectory: string,
  target: string,
  options: VisionGraphOptions,
): Promise<VisionShape> {
  const shape = await readVisionShape(modelDirectory);
  await withCheckpoint(modelDirectory, (reader) => {
    const graph = new VisionGraphWriter(shape, new VisionWeights(reader), options).write();
    return { isIgnorable: (name) => !isVisionTensor(name), write: () => writeOnnxFile(target, graph) };
  });
  return shape;
}
