import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, readFile, realpath, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';

const recordSchema = z.object({ identity: z.string(), sha256: z.string().regex(/^[0-9a-f]{64}$/) });

/** A file that changed so recently could change again within the same tick of the file system's clock. */
const settledMilliseconds = 2000;

/**
 * SHA-256 of a file in hexadecimal. Reading gigabytes takes long, so the result is kept in the folder `hashes` of
 * `cacheDir`, and counts while path, size, inode and time of change of the file are the same. Writers of `cacheDir`
 * are trusted: they could replace the compiled graphs too.
 */
export async function fileDigest(file: string, cacheDir: string): Promise<string> {
  const path = await realpath(file);
  const name = createHash('sha256').update(path).digest('hex').slice(0, 32);
  const record = join(cacheDir, 'hashes', `${name}.json`);
  const identity = await identityOf(path);
  const known = await readRecord(record);
  if (known?.identity === identity) return known.sha256;
  const sha256 = await hashFile(path);
  const { mtimeMs } = await stat(path);
  const isSettled = (await identityOf(path)) === identity && Date.now() - mtimeMs > settledMilliseconds;
  if (isSettled) await writeRecord(join(cacheDir, 'hashes'), record, { identity, sha256 });
  return sha256;
}

/** Reads a whole file. */
export async function hashFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path, { highWaterMark: 1 << 20 }), hash);
  return hash.digest('hex');
}

async function identityOf(path: string): Promise<string> {
  const { size, ino, mtimeNs } = await stat(path, { bigint: true });
  return [path, size, ino, mtimeNs].join(' ');
}

/** A record that is missing or damaged is made again. */
async function readRecord(record: string): Promise<z.infer<typeof recordSchema> | undefined> {
  try {
    return recordSchema.parse(JSON.parse(await readFile(record, 'utf8')));
  } catch {
    return undefined;
  }
}

/** Without a place to write, the next start reads the file again. */
async function writeRecord(
  folder: string,
  record: string,
  content: z.infer<typeof recordSchema>,
): Promise<void> {
  const temporary = `${record}.${process.pid}`;
  try {
    await mkdir(folder, { recursive: true });
    await writeFile(temporary, JSON.stringify(content));
    await rename(temporary, record);
  } catch (error) {
    if (!['EACCES', 'EROFS', 'ENOSPC'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}
