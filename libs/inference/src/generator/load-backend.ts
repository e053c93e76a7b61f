import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { compileDecoder, UnsupportedModelError } from '../compiler/index.js';
import { ModelLoadError } from '../model/model-load-error.js';
import type { DecoderBackend } from './decoder-backend.js';
import { DeltaBackend } from './delta/delta-backend.js';
import { bytesPerPosition } from './delta/slab-layout.js';
import { ExporterBackend } from './exporter-backend.js';
import type { GeneratorReady, GeneratorSettings } from './generator-messages.js';

export interface LoadedBackend {
  readonly backend: DecoderBackend;
  readonly ready: GeneratorReady;
}

/**
 * Compiles the model for the fast engine where it can be, otherwise runs the exporter's graph and says why. Throws
 * ModelLoadError when neither is possible, or the asked-for one is not.
 */
export async function loadBackend(settings: GeneratorSettings): Promise<LoadedBackend> {
  const { kind } = settings.engine;
  if (kind === 'exporter') return loadExporter(settings);
  try {
    return await loadCompiled(settings);
  } catch (error) {
    if (kind === 'compiled' || !(error instanceof UnsupportedModelError)) throw error;
    return loadExporter(settings, error.message);
  }
}

async function loadCompiled(settings: GeneratorSettings): Promise<LoadedBackend> {
  const { engine, directory } = settings;
  const weightsFile = await findCheckpoint(directory);
  const { weights, compiledDirectory: cacheDir } = engine;
  const compiled = await compileDecoder(directory, { cacheDir, weights, kv: keyValues(settings) });
  const backend = await DeltaBackend.load(compiled, settings, engine.memory);
  return { backend, ready: { backend: `${backend.name} compiled ${weights}`, weightsFile } };
}

async function loadExporter(settings: GeneratorSettings, fallback?: string): Promise<LoadedBackend> {
  const { directory, config, engine } = settings;
  const { onnxFile } = engine;
  if (!onnxFile) {
    throw new ModelLoadError(`${directory} holds no ONNX graph${fallback ? `, and ${fallback}` : ''}.`);
  }
  const backend = await ExporterBackend.load(onnxFile, config, settings);
  return { backend, ready: { backend: `${backend.name} exporter`, weightsFile: onnxFile, fallback } };
}

async function findCheckpoint(directory: string): Promise<string> {
  const files = await readdir(directory);
  const checkpoint = files.filter((file) => file.endsWith('.safetensors')).sort()[0];
  if (!checkpoint) throw new UnsupportedModelError('no safetensors', directory);
  return path.join(directory, checkpoint);
}

/** Int8 keys and values take a quarter of the memory and are faster on long contexts; float is exact. */
function keyValues({ engine, config, maxAnswers }: GeneratorSettings): 'int8' | 'float' {
  if (engine.keyValues !== 'auto') return engine.keyValues;
  const { layers, keyValueHeads: kvHeads, headDimension: headDim, contextLength } = config;
  const perPosition = bytesPerPosition({ layers, kvHeads, headDim, kv: 'float' });
  return perPosition * contextLength * maxAnswers > engine.memory.sequenceBytes ? 'int8' : 'float';
}
