import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { fileDigest } from './file-digest.js';

let folder: string;
let cacheDir: string;
let file: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'meganest-digest-'));
  file = join(folder, 'weights');
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const yesterday = new Date(Date.now() - 86_400_000);
const digestOf = (text: string) => createHash('sha256').update(text).digest('hex');

/** Writes the file with a time of change. */
async function write(text: string, time = yesterday): Promise<void> {
  await writeFile(file, text);
  await utimes(file, time, time);
}

/** The one record of the cache. */
async function recordPath(): Promise<string> {
  const [name = ''] = await readdir(join(cacheDir, 'hashes'));
  return join(cacheDir, 'hashes', name);
}

beforeEach(async () => {
  cacheDir = await mkdtemp(join(folder, 'cache-'));
  await write('one');
});

describe('fileDigest', () => {
  it('reads a file once', async () => {
    expect(await fileDigest(file, cacheDir)).toBe(digestOf('one'));
    // What the record says is used, so the file was not read again.
    const path = await recordPath();
    await writeFile(path, (await readFile(path, 'utf8')).replace(digestOf('one'), digestOf('kept')));
    expect(await fileDigest(file, cacheDir)).toBe(digestOf('kept'));
  });

  it('reads it again when its size or its time of change is another one', async () => {
    await fileDigest(file, cacheDir);
    await write('three');
    expect(await fileDigest(file, cacheDir)).toBe(digestOf('three'));
    await write('seven', new Date(yesterday.getTime() + 5000));
    expect(await fileDigest(file, cacheDir)).toBe(digestOf('seven'));
  });

  it('does not keep the hash of a file that changed just now', async () => {
    await write('one', new Date());
    expect(await fileDigest(file, cacheDir)).toBe(digestOf('one'));
    await expect(stat(join(cacheDir, 'hashes'))).rejects.toThrow('ENOENT');
  });

  it('makes a damaged record again', async () => {
    await fileDigest(file, cacheDir);
    await writeFile(await recordPath(), '{"identity":');
    expect(await fileDigest(file, cacheDir)).toBe(digestOf('one'));
    expect(await readFile(await recordPath(), 'utf8')).toContain(digestOf('one'));
  });
});
