import { chooseEngine, type EngineChoice, createSession, type LoadedSession } from '#models';
import { compileEncoder, UnsupportedModelError } from '#onnx-compiler';
import type { EncoderSettings } from './encoder-messages.js';

export interface LoadedGraph extends LoadedSession, EngineChoice {}

/** The compiled graph where the model can be compiled, otherwise the exporter's. Throws ModelLoadError. */
export async function loadGraph(settings: EncoderSettings): Promise<LoadedGraph> {
  const { directory, engine } = settings;
  const { loaded, choice } = await chooseEngine<LoadedSession>(directory, engine, {
    compiled: () => loadCompiled(settings),
    exporter: (onnxFile) => loadSession(onnxFile, settings, 'exporter'),
  });
  return { ...loaded, ...choice };
}

async function loadCompiled(settings: EncoderSettings): Promise<LoadedSession> {
  const { weights, compiledDirectory: cacheDir } = settings.engine;
  const { onnxPath } = await compileEncoder(settings.directory, {
    cacheDir,
    weights,
    task: settings.task === 'embed' ? 'embedding' : 'classification',
    activations: settings.activations,
    pooling: graphPooling(settings),
  });
  return loadSession(onnxPath, settings, `compiled ${weights}`);
}

async function loadSession(file: string, settings: EncoderSettings, kind: string): Promise<LoadedSession> {
  const { session, backend } = await createSession(file, settings);
  return { session, backend: `${backend} ${kind}` };
}

function graphPooling({ pooling, directory }: EncoderSettings): 'mean' | 'cls' {
  if (pooling === 'mean' || pooling === 'cls') return pooling;
  throw new UnsupportedModelError(`${pooling} pooling`, directory);
}
