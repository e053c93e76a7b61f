import { freemem } from 'node:os';
import { ModelLoadError } from '#models';
import { countParameters, readDecoderShape, type WeightPrecision } from '#onnx-compiler';
import type { GeneratorSettings } from '../generator-messages.js';

/**
 * Free memory that int8 weights need, in bytes a weight: one for the weight, and half as much for what loading and the
 * first requests take.
 */
const bytesPerWeight = 1.5;

/**
 * Resolves `auto`: int8 where it fits the free memory (that of the container, where it has a limit), otherwise int4,
 * which takes about half, or which
 * the checkpoint has. On a device of its own the weights are fp32. Errors: ModelLoadError for other weights there,
 * UnsupportedModelError for a damaged model.
 */
export async function chooseWeights(
  { directory, weights, engine }: Pick<GeneratorSettings, 'directory' | 'weights' | 'engine'>,
  freeBytes: () => number = availableMemory,
): Promise<WeightPrecision> {
  const isProcessor = engine.weights === 'int8';
  if (!isProcessor && weights !== 'auto' && weights !== 'fp32')
    throw new ModelLoadError(`Weights in ${weights} need the processor; this device has fp32 weights.`);
  if (weights !== 'auto') return weights;
  if (!isProcessor) return 'fp32';
  if ((await readDecoderShape(directory)).packing) return 'int4';
  return (await countParameters(directory)) * bytesPerWeight <= freeBytes() ? 'int8' : 'int4';
}

/** Node 20 may lack the function, whose result heeds the limit of a container. */
function availableMemory(): number {
  return process.availableMemory?.() ?? freemem();
}
