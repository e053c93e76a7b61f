import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'meganest-compile-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

interface Outcome {
  readonly code: number;
  readonly output: string;
  readonly errors: string;
}

/** Runs a script of this folder as a user does, on the built libraries. */
function run(script: string, ...args: string[]): Promise<Outcome> {
  return new Promise((resolve) => {
    execFile(process.execPath, [join('dist', script), ...args], (error, output, errors) => {
      resolve({ code: error ? Number(error.code) : 0, output, errors });
    });
  });
}

it('compiles a model folder and says where', { timeout: 60_000 }, async () => {
  const cache = join(folder, 'cache');
  const { code, output } = await run('compile.js', 'models/nano-rerank', '--cache', cache);
  const compiled = (await readdir(cache)).find((name) => name.startsWith('nano-rerank'));
  expect({ code, output }).toEqual({ code: 0, output: expect.stringContaining(join(cache, compiled!)) });
});

it('says what it does not support, and how it is used', { timeout: 60_000 }, async () => {
  await writeFile(
    join(folder, 'config.json'),
    JSON.stringify({
      architectures: ['GemmaForCausalLM'],
      model_type: 'gemma',
      hidden_size: 8,
      num_hidden_layers: 1,
      num_attention_heads: 1,
      intermediate_size: 8,
      vocab_size: 8,
      max_position_embeddings: 8,
    }),
  );
  await writeFile(join(folder, 'model.safetensors'), '');
  const gemma = await run('compile.js', folder, '--cache', join(folder, 'unused'));
  expect(gemma).toMatchObject({
    code: 1,
    errors: expect.stringContaining('model_type "gemma" is not supported'),
  });
  expect(await run('compile.js')).toMatchObject({ code: 2, errors: expect.stringContaining('Usage') });
  const typo = await run('compile.js', folder, '--kv', 'half');
  expect(typo).toMatchObject({ code: 2, errors: expect.stringContaining('--kv half is unknown') });
});

it('exports and rounds a model folder', { timeout: 60_000 }, async () => {
  const exported = join(folder, 'exported');
  expect(await run('export-model.js', 'models/nano-rerank', exported)).toMatchObject({ code: 0 });
  expect(await readdir(join(exported, 'onnx'))).toEqual(['model.onnx']);
  expect(await readdir(exported)).toEqual(expect.arrayContaining(['config.json', 'tokenizer.json']));
  const rounded = join(folder, 'rounded');
  expect(await run('quantize-checkpoint.js', 'models/nano-rerank', rounded)).toMatchObject({ code: 0 });
  expect(await readdir(rounded)).toEqual(['model.safetensors']);
});
