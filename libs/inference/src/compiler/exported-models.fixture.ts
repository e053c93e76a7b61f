import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageRoot } from '../runtime/package-root.js';
import { exportModel } from './export-model.js';

/** Bundled models as float32 ONNX in the layout that transformers.js wants. */
export interface ExportedModels {
  /** For `env.localModelPath` of transformers.js, whose `dtype` is then `fp32`. */
  readonly directory: string;
  remove(): Promise<void>;
}

/** Exports bundled models, for tests that compare with transformers.js on the same weights. */
export async function exportBundledModels(...names: string[]): Promise<ExportedModels> {
  const directory = await mkdtemp(join(tmpdir(), 'meganest-exported-'));
  for (const name of names) await exportModel(join(packageRoot(), 'models', name), join(directory, name));
  return { directory: `${directory}/`, remove: () => rm(directory, { recursive: true, force: true }) };
}
