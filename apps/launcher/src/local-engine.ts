import { findLocalEngines, type LocalEngine } from '#engine/remote-engines';
import type { LauncherEnvironment } from './environment.js';

/** Kinds with a name that their users know. */
const names: Readonly<Partial<Record<LocalEngine['kind'], string>>> = {
  ollama: 'Ollama',
  'lm-studio': 'LM Studio',
  'llama.cpp': 'llama.cpp',
  vllm: 'vLLM',
  sglang: 'SGLang',
  ovms: 'OpenVINO Model Server',
  tgi: 'TGI',
};

/** What was found on this machine: a line for the console, and variables that use it. */
export interface FoundEngine {
  readonly line?: string;
  readonly variables: Readonly<Record<string, string>>;
}

/**
 * Looks for an engine on this machine, unless the environment names one or MEGANEST_ENGINE is `off`. With `auto` the
 * returned variables use the first one. `find` is for tests.
 */
export async function lookForEngine(
  { LLM_ENDPOINT, LLM_MODEL_ID, MEGANEST_ENGINE }: LauncherEnvironment,
  find: () => Promise<LocalEngine[]> = findLocalEngines,
): Promise<FoundEngine> {
  if (LLM_ENDPOINT !== undefined || MEGANEST_ENGINE === 'off') return { variables: {} };
  const isAuto = MEGANEST_ENGINE === 'auto';
  const [engine] = await find();
  if (!engine) {
    const line = 'No engine was found on this machine; the answers come from the local model.';
    return { ...(isAuto && { line }), variables: {} };
  }
  const { url, models } = engine;
  const wanted = isAuto ? models.find(({ id }) => id === LLM_MODEL_ID) : undefined;
  const model = (wanted ?? models[0])?.id ?? '';
  const what = `${names[engine.kind] ?? 'an engine'} at ${url} (${describeModels(models)})`;
  if (isAuto)
    return {
      line: `Answers come from ${what}: ${model}.`,
      variables: { LLM_ENDPOINT: `${url}/v1`, LLM_MODEL_ID: model },
    };
  return { line: `Found ${what}. To use it: MEGANEST_ENGINE=auto npm start`, variables: {} };
}

function describeModels(models: LocalEngine['models']): string {
  const shown = models.slice(0, 3).map(({ id }) => id);
  return models.length > 3 ? `${shown.join(', ')} and ${models.length - 3} more` : shown.join(', ');
}
