import { existsSync } from 'node:fs';
import path from 'node:path';
import { ModelLoadError } from '../model/model-load-error.js';
import { packageRoot } from '../runtime/package-root.js';

/** Path of a bundled worker: threads run what `npm run build` wrote, also when sources are tested directly. */
export function workerEntry(file: string): string {
  const entry = path.join(packageRoot(), 'dist', 'bundle', file);
  if (existsSync(entry)) return entry;
  throw new ModelLoadError(`${entry} is missing: run \`npm run build\` first.`);
}
