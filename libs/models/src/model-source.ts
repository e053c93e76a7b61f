import { existsSync } from 'node:fs';
import path from 'node:path';
import { downloadModel, type CompileCheck } from './hub/download-model.js';
import { parseHubId } from './hub/hub-cache.js';
import type { ModelLoadOptions } from './model/load-options.js';
import { ModelNotFoundError } from './model/model-files.js';
import { projectRoot } from '#paths';

/** A model folder in Hugging Face layout, found or downloaded. */
export interface ModelDirectory {
  /** Name under which the model is served: the bundled name, the hub id, or the folder's name. */
  readonly id: string;
  readonly directory: string;
}

/**
 * Finds a model: a bundled name (`nano-chat`), a local folder, or a hub id (`organization/name`, with
 * `@revision` for a branch, tag or commit other than `main`; only with `allowHub`, or offline if a cache has it).
 * Throws ModelNotFoundError that lists the names and paths it tried.
 */
export async function resolveModel(
  source: string,
  options: ModelLoadOptions,
  canCompile: CompileCheck = () => Promise.resolve(false),
): Promise<ModelDirectory> {
  const bundled = path.join(options.modelsDirectory ?? path.join(projectRoot, 'models'), source);
  if (isPlainName(source) && existsSync(bundled)) return { id: source, directory: bundled };
  if (existsSync(source)) return { id: path.basename(path.resolve(source)), directory: path.resolve(source) };
  const model = parseHubId(source, options.revision);
  if (model) return { id: model.id, directory: await downloadModel(model, options, canCompile) };
  throw new ModelNotFoundError(
    `The model "${source}" is neither a bundled model (${bundled}) nor a folder (${path.resolve(source)}) nor an organization/name id of the hub.`,
  );
}

function isPlainName(source: string): boolean {
  return /^[\w.-]+$/.test(source) && !source.startsWith('.');
}
