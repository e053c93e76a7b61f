import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream, existsSync } from 'node:fs';
import { mkdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ModelLoadError } from '../model/model-files.js';
import type { HubApi, HubFile } from './hub-api.js';
import type { HubFolder } from './hub-cache.js';

const partialSuffix = '.meganest-partial';

/** Returns how many bytes of a file are on disk already, from this process or an earlier one. */
export async function bytesAtHand(folder: HubFolder, file: HubFile): Promise<number> {
  const whole = folder.blob(file.tag);
  return existsSync(whole) ? file.bytes : sizeOf(whole + partialSuffix);
}

/**
 * Downloads a file into the cache: resumes an earlier attempt, checks the hash, then gives the blob its name.
 * `onBytes` gets the number of bytes so far. Throws ModelLoadError; a file with a wrong hash is removed.
 */
export async function fetchBlob(
  source: { api: HubApi; commit: string; id: string },
  folder: HubFolder,
  file: HubFile,
  onBytes: (bytes: number) => void,
): Promise<void> {
  const blob = folder.blob(file.tag);
  const partial = blob + partialSuffix;
  if (existsSync(blob)) return onBytes(file.bytes);
  await mkdir(path.dirname(blob), { recursive: true });
  if ((await sizeOf(partial)) > file.bytes) await rm(partial);
  let isResumed = (await sizeOf(partial)) > 0;
  for (;;) {
    await source.api.fetchFile(
      source.commit,
      file,
      () => sizeOf(partial),
      (body, from) => append(body, partial, from, onBytes),
    );
    if (file.bytes === 0) await pipeline(Readable.from([]), createWriteStream(partial));
    const actual = await hashOf(partial, file);
    if (actual === file.tag) break;
    await rm(partial, { force: true });
    // After a resume the beginning may be of an older version of the file, so only a complete download is an error.
    if (!isResumed)
      throw new ModelLoadError(
        `The download of ${source.id}/${file.name} failed: its hash is ${actual}, the hub says ${file.tag}.`,
      );
    isResumed = false;
  }
  await rename(partial, blob);
  onBytes(file.bytes);
}

async function append(
  body: ReadableStream<Uint8Array>,
  partial: string,
  from: number,
  onBytes: (bytes: number) => void,
): Promise<void> {
  let bytes = from;
  const count = new Transform({
    transform(chunk: Uint8Array, _encoding, done) {
      bytes += chunk.length;
      onBytes(bytes);
      done(null, chunk);
    },
  });
  const target = createWriteStream(partial, { flags: from > 0 ? 'a' : 'w' });
  await pipeline(Readable.fromWeb(body), count, target);
}

/** Returns the hash by which the hub names a file: SHA-256 for a large file, otherwise git's SHA-1 of the blob. */
export async function hashOf(file: string, { tag, bytes }: Pick<HubFile, 'tag' | 'bytes'>): Promise<string> {
  const hash = tag.length === 64 ? createHash('sha256') : createHash('sha1').update(`blob ${bytes}\0`);
  await pipeline(createReadStream(file, { highWaterMark: 1 << 20 }), hash);
  return hash.digest('hex');
}

async function sizeOf(file: string): Promise<number> {
  return stat(file).then(
    ({ size }) => size,
    () => 0,
  );
}
