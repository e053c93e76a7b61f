import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { repositoryRoot, startNats, type TestNats } from '#platform/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';

/** The files whose doc comments show how a public entry is used. */
const entries = [
  'apps/gateway/src/chat/model-directory.ts',
  'libs/platform/dag/src/engine/dag-run.ts',
  'libs/platform/messaging/src/rpc-client.ts',
  'libs/engine/generation/src/generator.ts',
  'libs/engine/onnx-compiler/src/decoder/compile-decoder.ts',
];

/** The examples of the doc comments of a file. */
function examplesOf(file: string): string[] {
  const source = readFileSync(join(repositoryRoot, file), 'utf8');
  return [...source.matchAll(/^ \* @example\n((?: \*.*\n)+?) \*\//gm)].map(([, lines = '']) =>
    lines.replaceAll(/^ \*(?: {3}| ?$)/gm, ''),
  );
}

let nats: TestNats;
let folder: string;
beforeAll(async () => {
  nats = await startNats();
  process.env.NATS_URL = nats.url;
  // Below the repository, so that the names of its libs resolve.
  await mkdir(join(repositoryRoot, '.data'), { recursive: true });
  folder = await mkdtemp(join(repositoryRoot, '.data/examples-'));
});
afterAll(async () => {
  await nats.stop();
  await rm(folder, { recursive: true });
});

it.each(entries)('the example of %s runs', async (file) => {
  const examples = examplesOf(file);
  expect(examples).toHaveLength(1);
  const path = join(folder, `${entries.indexOf(file)}.ts`);
  await writeFile(path, examples[0]!);
  await import(pathToFileURL(path).href);
});
