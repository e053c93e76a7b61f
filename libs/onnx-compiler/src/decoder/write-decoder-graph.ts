import { type DecoderShape, readDecoderShape } from './decoder-config.js';
import { buildDecoderGraph, type DecoderGraphOptions } from './decoder-graph.js';
import { DecoderWeights } from './decoder-weights.js';
import { writeOnnxFile } from '../onnx/onnx-file.js';
import { withCheckpoint } from '../checkpoint/open-checkpoint.js';

/** Reads a model directory and writes its graph as `model.onnx` into `target`; returns the model's shape. */
export async function writeDecoderGraph(
  modelDirectory: string,
  target: string,
  options: DecoderGraphOptions,
): Promise<DecoderShape> {
  const shape = await readDecoderShape(modelDirectory);
  await withCheckpoint(modelDirectory, (reader) => {
    const graph = buildDecoderGraph(shape, new DecoderWeights(reader, shape), options);
    return {
      isHarmless: (name) => isHarmless(name, shape.tiedEmbeddings),
      write: () => writeOnnxFile(target, graph),
    };
  });
  return shape;
}

/** Tensors that checkpoints carry and no graph needs: tables that are recomputed, and a tied matrix saved twice. */
function isHarmless(name: string, tiedEmbeddings: boolean): boolean {
  return name.endsWith('rotary_emb.inv_freq') || (tiedEmbeddings && name === 'lm_head.weight');
}
