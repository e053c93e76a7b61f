import { existsSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { downloadModel, type CompileCheck } from './hub/download-model.js';
import { parseHubId } from './hub/hub-cache.js';
import type { ModelLoadOptions } from './model/load-options.js';
import { ModelLoadError, ModelNotFoundError } from './model/model-files.js';
import { projectRoot } from '#platform/foundation';

/** A model folder in Hugging Face layout, found or downloaded. */
export interface ModelDirectory {
  /** Name under which the model is served: the bundled name, the hub id, or the folder's name. */
  readonly id: string;
  readonly directory: string;
}

/**
 * Finds a model: a bundled name (`nano-chat`), a local folder, or a hub id (`organization/name`, with
 * `@revision` for a branch, tag or commit other than `main`; only with `allowHub`, or offline if a cache has it).
 * Throws ModelNotFoundError that lists the names and paths it tried, ModelLoadError for a model in the format GGUF.
 */
export async function resolveModel(
  source: string,
  options: ModelLoadOptions,
  canCompile: CompileCheck = () => Promise.resolve(false),
): Promise<ModelDirectory> {
  refuseGguf(source);
  const bundled = path.join(options.modelsDirectory ?? path.join(projectRoot, 'models'), source);
  if (isPlainName(source) && existsSync(bundled)) return { id: source, directory: bundled };
  if (existsSync(source)) return { id: path.basename(path.resolve(source)), directory: path.resolve(source) };
  const model = parseHubId(source, options.revision);
  if (model) return { id: model.id, directory: await downloadModel(model, options, canCompile) };
  throw new ModelNotFoundError(
    `The model "${source}" is neither a bundled model (${bundled}) nor a folder (${path.resolve(source)}) nor an organization/name id of the hub.`,
  );
}

/** Forms of names of GGUF models: a file, a folder with nothing else, a name of llama.cpp and Ollama. */
function refuseGguf(source: string): void {
  const files = isFolder(source) ? readdirSync(source) : [source];
  const gguf = files.find((file) => file.endsWith('.gguf'));
  const isNamed = /^(hf\.co|huggingface\.co|hf|ollama)[:/]|^[\w-]+\/[\w.-]+:[\w.-]+$|-gguf(@|$)/i.test(
    source,
  );
  if (!(isNamed && !existsSync(source)) && (!gguf || files.includes('config.json'))) return;
  const file = gguf && isFolder(source) ? path.join(source, gguf) : source;
  throw new ModelLoadError(
    `The model "${source}" is in the format GGUF, which MegaNest does not read. Serve it with an engine, for example \`llama-server --model ${file} --port 8080\` or Ollama, and set LLM_ENDPOINT=http://127.0.0.1:8080/v1 (Ollama: http://127.0.0.1:11434/v1); or name the original model with its safetensors.`,
  );
}

function isFolder(source: string): boolean {
  return statSync(source, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function isPlainName(source: string): boolean {
  return /^[\w.-]+$/.test(source) && !source.startsWith('.');
}
