import { cp, mkdtemp, rm } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AutoModelForCausalLM, env, Tensor } from '@xenova/transformers';
import { InferenceSession } from 'onnxruntime-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { randomNumbers } from './checkpoint.fixture.js';
import { compileDecoder } from './compile-decoder.js';
import { exportModel } from './export-model.js';
import { decodeGreedily } from './greedy-driver.fixture.js';

const models = '../shared/models';
if (!existsSync(models)) console.warn(`${models} is absent: nothing to compare transformers.js with.`);

describe.skipIf(!existsSync(models)).each(['tinystories-656k', 'nano-chat'])('%s', (name) => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'meganest-transformers-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('continues prompts like transformers.js on the same weights', { timeout: 60_000 }, async () => {
    const directory = join(folder, 'source');
    await cp(join(models, name), directory, { recursive: true });
    const compiled = await compileDecoder(directory, {
      cacheDir: join(folder, 'cache'),
      weights: 'fp32',
      kv: 'float',
    });
    const session = await InferenceSession.create(compiled.onnxPath, { intraOpNumThreads: 1 });
    await exportModel(directory, join(folder, name));
    env.localModelPath = `${folder}/`;
    const model = await AutoModelForCausalLM.from_pretrained(name, { dtype: 'fp32', local_files_only: true });
    const random = randomNumbers(9);
    const prompts = [4, 19, 40, 70].map((length) =>
      Array.from({ length }, () => 3 + Math.floor(((random() + 1) / 2) * (compiled.vocabularySize - 3))),
    );
    const answers = await decodeGreedily(session, compiled, prompts, 20);
    for (const [index, prompt] of prompts.entries()) {
      const ids = (values: number[]) =>
        new Tensor('int64', BigInt64Array.from(values, BigInt), [1, values.length]);
      const inputs = { input_ids: ids(prompt), attention_mask: ids(prompt.map(() => 1)) };
      const output = (await model.generate({ ...inputs, max_new_tokens: 20, do_sample: false })) as Tensor;
      const expected = Array.from(output.data as BigInt64Array, Number).slice(prompt.length);
      // transformers.js ends at the end-of-text token; the driver goes on.
      expect(answers[index]!.slice(0, expected.length)).toEqual(expected);
    }
    await model.dispose();
  });
});
