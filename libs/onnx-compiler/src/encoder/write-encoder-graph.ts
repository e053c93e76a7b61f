import { type EncoderShape, readEncoderShape } from './encoder-config.js';
import { buildEncoderGraph, type EncoderGraphOptions } from './encoder-graph.js';
import { EncoderWeights } from './encoder-weights.js';
import { writeOnnxFile } from '../onnx/onnx-file.js';
import { withCheckpoint } from '../checkpoint/open-checkpoint.js';

/** Reads a model directory and writes its graph as `model.onnx` into `target`; returns the model's shape. */
export async function writeEncoderGraph(
  modelDirectory: string,
  target: string,
  options: EncoderGraphOptions,
): Promise<EncoderShape> {
  const shape = await readEncoderShape(modelDirectory);
  await withCheckpoint(modelDirectory, (reader) => {
    const weights = new EncoderWeights(reader, shape);
    const graph = buildEncoderGraph(shape, weights, options);
    return { isHarmless: (name) => weights.isHarmless(name), write: () => writeOnnxFile(target, graph) };
  });
  return shape;
}
