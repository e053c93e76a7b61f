import { freemem } from 'node:os';
import { chooseEngine, ModelLoadError, WorkerChannel } from '#engine/models';
import {
  compileConcatKvDecoder,
  countParameters,
  readDecoderShape,
  type WeightPrecision,
  type CompileDecoderOptions,
  type CompiledDecoder,
  findCompiledDecoder,
  UnsupportedModelError,
} from '#engine/onnx-compiler';
import { builtFile } from '#platform/foundation';
import type { DecoderBackend } from '../decoder-backend.js';
import type { GeneratorReady, GeneratorSettings } from '../generator-interface.js';
import { bytesPerPosition } from '../kv-cache/kv-cache.js';
import { CompiledOnnxBackend } from './compiled-onnx-backend.js';
import { KernelDecoder } from '../kernel-decoder/kernel-decoder.js';
import { ExportedOnnxBackend } from './exported-onnx-backend.js';

/** A backend and the message that the worker sends when it is ready. */
export interface LoadedBackend {
  readonly backend: DecoderBackend;
  readonly ready: GeneratorReady;
}

/** Loads the compiled engine if the model can be compiled, otherwise the exported graph. Errors: ModelLoadError. */
export async function loadBackend(settings: GeneratorSettings): Promise<LoadedBackend> {
  const { loaded, choice } = await chooseEngine<LoadedEngine>(settings.directory, settings.engine, {
    compiled: () => loadCompiled(settings),
    exporter: (onnxFile) => loadExporter(onnxFile, settings),
  });
  return {
    backend: loaded.backend,
    ready: { ...choice, backend: loaded.name, takesImages: loaded.backend.takesImages },
  };
}

interface LoadedEngine {
  readonly backend: DecoderBackend;
  readonly name: string;
}

async function loadCompiled(settings: GeneratorSettings): Promise<LoadedEngine> {
  const { compiledDirectory: cacheDir } = settings.engine;
  const weights = await chooseWeights(settings);
  // A cache in main memory would be copied to the GPU for every token.
  if (settings.device === 'webgpu') {
    const dense = await compileConcatKvDecoder(settings.directory, cacheDir);
    const resident = await ExportedOnnxBackend.load(dense, settings.config, settings);
    return { backend: resident, name: `${resident.name} compiled fp32` };
  }
  const kv = chooseKeyValues(settings, weights);
  const { block } = settings;
  const compiled = await compileApart(settings.directory, {
    cacheDir,
    weights,
    kv,
    ...(block && { block }),
  });
  const kernels = await loadKernels(settings, compiled);
  const backend = await CompiledOnnxBackend.load(compiled, settings, settings.memory, kernels);
  return { backend, name: `${backend.name} compiled ${weights}` };
}

/** Four threads of the kernels reach the bandwidth of the memory on most machines. */
const maxKernelThreads = 4;

/** Threads of the kernels of wide passes; each has a small heap. */
const maxWideThreads = 8;

/** A thread of the kernels reads weights about as fast as two of the graph. */
const kernelThreads = (threads: number): number =>
  Math.min(maxKernelThreads, Math.max(1, Math.floor(threads / 2)));

/** Weights in 4 bits save memory, so that their second copy gets less of it. */
const shareOfInt4 = 4;

/** Loads the kernels where they are supported. Without them the graph computes all passes. */
async function loadKernels(
  { directory, kernelBytes, threads }: GeneratorSettings,
  model: CompiledDecoder,
): Promise<KernelDecoder | undefined> {
  const wanted = model.weights === 'int4' ? kernelBytes / shareOfInt4 : kernelBytes;
  const maxBytes = Math.min(wanted, availableMemory() / 2);
  try {
    return await KernelDecoder.load(directory, model, {
      maxBytes,
      threads: kernelThreads(threads),
      wideThreads: Math.min(maxWideThreads, threads),
    });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    process.emitWarning(`${directory}: answers are written without kernels in WebAssembly: ${reason}`);
    return undefined;
  }
}

async function loadExporter(onnxFile: string, settings: GeneratorSettings): Promise<LoadedEngine> {
  const backend = await ExportedOnnxBackend.load(onnxFile, settings.config, settings);
  return { backend, name: `${backend.name} exporter` };
}

/** A float cache of more bytes a position is kept in int8. The bundled models have at most this many. */
const largePosition = 16 * 1024;

/**
 * Resolves `auto`: int8 for a model with rounded weights whose float cache takes more than 16 KiB a position, and for any
 * model whose float cache would not fit the memory. Int8 takes a quarter of the memory and is faster where caches are
 * large; its error is smaller than that of rounded weights (docs/design/generation.md).
 */
export function chooseKeyValues(
  {
    keyValues,
    config,
    maxAnswers,
    memory,
  }: Pick<GeneratorSettings, 'keyValues' | 'config' | 'maxAnswers' | 'memory'>,
  weights: WeightPrecision,
): 'int8' | 'float' {
  if (keyValues !== 'auto') return keyValues;
  const { layers, keyValueHeads: kvHeads, headDimension: headDim, contextLength } = config;
  const perPosition = bytesPerPosition({ layers, kvHeads, headDim, kv: 'float' });
  const isLarge = weights !== 'fp32' && perPosition > largePosition;
  return isLarge || perPosition * contextLength * maxAnswers > memory.sequenceBytes ? 'int8' : 'float';
}

/**
 * Free memory that int8 weights need, in bytes per weight: one for the weight, and half a byte for loading and the
 * first requests.
 */
const bytesPerWeight = 1.5;

/**
 * Resolves `auto`: int8 if it fits the free memory (within the limit of a container), otherwise int4, which takes about
 * half; also int4 if the checkpoint has int4 weights. Weights on a GPU are fp32. Errors: ModelLoadError for other
 * weights on a GPU, UnsupportedModelError for a damaged model.
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

/** Returns the free memory within the limit of a container. Older versions of Node 20 lack the function. */
function availableMemory(): number {
  return process.availableMemory?.() ?? freemem();
}

/** Input of the compiler thread. */
export interface CompilationTask {
  readonly directory: string;
  readonly options: CompileDecoderOptions;
}

/** Result of the compiler thread: the model, or the feature that the compiler does not support. */
export type Compilation = CompiledDecoder | { readonly unsupported: string };

/**
 * Finds a compiled decoder in the cache, or compiles it in a separate thread, so that the memory of the compilation is
 * freed before the graph is loaded. Errors: UnsupportedModelError.
 */
async function compileApart(directory: string, options: CompileDecoderOptions): Promise<CompiledDecoder> {
  const known = await findCompiledDecoder(directory, options);
  if (known) return known;
  const task: CompilationTask = { directory, options };
  const thread = new WorkerChannel<Compilation, never, never, never>(builtFile('compiler.worker'), task, 0);
  try {
    const result = await thread.start();
    if ('unsupported' in result) throw new UnsupportedModelError(result.unsupported, directory);
    return result;
  } finally {
    await thread.close();
  }
}
