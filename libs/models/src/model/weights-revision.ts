import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';

/** First 12 hex digits of the SHA-256 of the weights, and their date in Unix seconds. */
export async function describeWeights(file: string): Promise<{ revision: string; created: number }> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file, { highWaterMark: 1 << 20 }), hash);
  const { mtimeMs } = await stat(file);
  return { revision: hash.digest('hex').slice(0, 12), created: Math.floor(mtimeMs / 1000) };
}
