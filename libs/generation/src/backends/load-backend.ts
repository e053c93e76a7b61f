import { chooseEngine } from '#models';
import { compileConcatKvDecoder } from '#onnx-compiler';
import type { DecoderBackend } from '../decoder-backend.js';
import { compileApart } from './compile-apart.js';
import { CompiledOnnxBackend } from './compiled-onnx-backend.js';
import { bytesPerPosition } from '../kv-cache/kv-cache.js';
import { chooseWeights } from './choose-weights.js';
import { ExportedOnnxBackend } from './exported-onnx-backend.js';
import type { GeneratorReady, GeneratorSettings } from '../generator-messages.js';

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
  return { backend: loaded.backend, ready: { ...choice, backend: loaded.name } };
}

interface LoadedEngine {
  readonly backend: DecoderBackend;
  readonly name: string;
}

async function loadCompiled(settings: GeneratorSettings): Promise<LoadedEngine> {
  const { compiledDirectory: cacheDir } = settings.engine;
  const weights = await chooseWeights(settings);
  // A cache in this process would be copied to the GPU with every token.
  if (settings.device === 'webgpu') {
    const dense = await compileConcatKvDecoder(settings.directory, cacheDir);
    const resident = await ExportedOnnxBackend.load(dense, settings.config, settings);
    return { backend: resident, name: `${resident.name} compiled fp32` };
  }
  const kv = keyValues(settings);
  const { block } = settings;
  const compiled = await compileApart(settings.directory, {
    cacheDir,
    weights,
    kv,
    ...(block && { block }),
  });
  const backend = await CompiledOnnxBackend.load(compiled, settings, settings.memory);
  return { backend, name: `${backend.name} compiled ${weights}` };
}

async function loadExporter(onnxFile: string, settings: GeneratorSettings): Promise<LoadedEngine> {
  const backend = await ExportedOnnxBackend.load(onnxFile, settings.config, settings);
  return { backend, name: `${backend.name} exporter` };
}

/**
 * `auto` chooses int8 if float would not fit the memory. Int8 takes a quarter of the memory and is faster on long
 * contexts; float is exact.
 */
function keyValues({ keyValues, config, maxAnswers, memory }: GeneratorSettings): 'int8' | 'float' {
  if (keyValues !== 'auto') return keyValues;
  const { layers, keyValueHeads: kvHeads, headDimension: headDim, contextLength } = config;
  const perPosition = bytesPerPosition({ layers, kvHeads, headDim, kv: 'float' });
  return perPosition * contextLength * maxAnswers > memory.sequenceBytes ? 'int8' : 'float';
}
