import { stat } from 'node:fs/promises';
import { fileDigest, hashFile } from '#onnx-compiler';

/**
 * First 12 hex digits of the SHA-256 of the weights, and their date in Unix seconds. `cacheDir`: where the hash is
 * kept, so that a large file is read once.
 */
export async function describeWeights(
  file: string,
  cacheDir?: string,
): Promise<{ revision: string; created: number }> {
  const sha256 = cacheDir === undefined ? await hashFile(file) : await fileDigest(file, cacheDir);
  const { mtimeMs } = await stat(file);
  return { revision: sha256.slice(0, 12), created: Math.floor(mtimeMs / 1000) };
}
