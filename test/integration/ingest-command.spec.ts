import { execFile } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  cleanEnvironment,
  createTemporaryDirectory,
  repositoryRoot,
  startStack,
  type TestStack,
} from '#platform/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { DataprepClient } from './dataprep/dataprep-client.js';

let stack: TestStack;
let dataprep: DataprepClient;
let folder: Awaited<ReturnType<typeof createTemporaryDirectory>>;
let data: Awaited<ReturnType<typeof createTemporaryDirectory>>;

beforeAll(async () => {
  stack = await startStack({ services: ['embedding', 'dataprep'] });
  dataprep = new DataprepClient(stack.service('dataprep').url);
  [folder, data] = await Promise.all([createTemporaryDirectory(), createTemporaryDirectory()]);
  for (const name of ['a', 'b']) {
    mkdirSync(join(folder.path, name));
    writeFileSync(join(folder.path, name, 'readme.txt'), `The ${name} speaks of lamps.`);
  }
  writeFileSync(join(folder.path, 'broken.pdf'), '%PDF-1.4 broken');
  writeFileSync(join(folder.path, '.hidden.txt'), 'Hidden.');
});
afterAll(async () => {
  await stack?.stop();
  await Promise.all([folder?.remove(), data?.remove()]);
});

function ingest(...args: string[]): Promise<{ code: number; output: string }> {
  const env = { ...cleanEnvironment(), MEGANEST_DATA_DIR: data.path };
  const program = ['bin/meganest.mjs', 'ingest', ...args];
  return new Promise((resolve) => {
    execFile(process.execPath, program, { cwd: repositoryRoot, env }, (error, out, errors) =>
      resolve({ code: error ? Number(error.code) : 0, output: `${out}${errors}` }),
    );
  });
}

const collection = 'folder';
const send = (...more: string[]) =>
  ingest(folder.path, '--url', dataprep.url, '--collection', collection, ...more);

it('sends a folder under the paths in it, and says what failed', async () => {
  const { code, output } = await send();
  expect(output).toMatch(/failed +broken\.pdf: .*\n/);
  expect(output).toMatch(/2 stored, 1 failed\.\n$/);
  expect(code).toBe(1);
  expect(await dataprep.names(collection)).toEqual(['a/readme.txt', 'b/readme.txt']);
});

it('goes on where it stopped: what is stored and unchanged is not sent again', async () => {
  rmSync(join(folder.path, 'broken.pdf'));
  writeFileSync(join(folder.path, 'a', 'new.md'), '# New');
  expect(await send()).toMatchObject({
    code: 0,
    output: expect.stringContaining('1 stored, 2 were there already.') as string,
  });
  await dataprep.post('/v1/dataprep/delete', { file_path: 'b/readme.txt', collection });
  expect((await send()).output).toContain('1 stored, 2 were there already.');
  expect((await send('--again')).output).toContain('3 stored.');
});

it('says why it cannot begin', async () => {
  expect(await ingest('/nowhere')).toEqual({ code: 1, output: '/nowhere does not exist.\n' });
  expect((await ingest(folder.path, '--url', 'http://127.0.0.1:9')).output).toMatch(
    /^http:\/\/127\.0\.0\.1:9 does not answer .* Is MegaNest running\?/,
  );
  expect((await ingest('--help')).output).toContain('Usage: npm run ingest');
});
