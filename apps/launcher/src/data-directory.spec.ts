import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createTemporaryDirectory } from '#platform/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { prepareDataDirectory } from './data-directory.js';

let folder: { path: string; remove(): Promise<void> };
beforeAll(async () => {
  folder = await createTemporaryDirectory();
  writeFileSync(join(folder.path, 'file'), '');
});
afterAll(() => folder.remove());

it('makes the directory and leaves nothing in it', async () => {
  const path = join(folder.path, 'one', 'two');
  await prepareDataDirectory(path);
  expect(readdirSync(path)).toEqual([]);
});

it.runIf(existsSync('/proc/self'))('refuses a file system that makes no directories, at once', async () => {
  await expect(prepareDataDirectory('/proc/x')).rejects.toThrow(
    'MEGANEST_DATA_DIR: /proc/x cannot be used: this file system does not allow new directories.',
  );
});

it.each(['file', 'file/below'])('says that %s is a file', async (name) => {
  await expect(prepareDataDirectory(join(folder.path, name))).rejects.toThrow(
    /^MEGANEST_DATA_DIR: .* a part of the path is a file/,
  );
});
