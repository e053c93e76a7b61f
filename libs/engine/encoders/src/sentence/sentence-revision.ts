import { hashFile } from '#engine/onnx-compiler';
import { createHash } from 'node:crypto';
import path from 'node:path';
import type { SentenceModules } from './sentence-modules.js';

/**
 * The revision of a model whose vectors other modules change: the hash of their weights joins the revision of the
 * transformer's weights. Of a model that is only pooled the revision stays.
 */
export async function revisionWithHead(revision: string, modules: SentenceModules): Promise<string> {
  const { pooling = [], steps } = modules;
  if (pooling.length < 2 && steps.every(({ kind }) => kind === 'normalize')) return revision;
  const hash = createHash('sha256').update(JSON.stringify([revision, pooling]));
  for (const step of steps) {
    const weights = 'directory' in step ? path.join(step.directory, 'model.safetensors') : undefined;
    const { directory: _directory, ...shape } = { directory: '', ...step };
    hash.update(JSON.stringify([shape, weights && (await hashFile(weights))]));
  }
  return hash.digest('hex').slice(0, 12);
}
