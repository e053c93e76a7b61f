/** Models as today's sentence-transformers and transformers write them (test/real-models/write_forms.py). */
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { projectRoot } from '#platform/foundation';
import { largestDifference } from '../../../../../test/support/model-forms.js';
import { loadEmbedder } from '../embedder.js';

const forms = join(projectRoot, 'test', 'fixtures', 'model-forms');

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'meganest-forms-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

it.each(await readdir(forms))('%s gives what the library computes', async (name) => {
  expect(await largestDifference(join(forms, name), folder)).toBeLessThan(1e-3);
});

/** Loads a copy of a model with a changed JSON file; returns the reason of the refusal. */
async function refusalOf(name: string, file: string, changes: object): Promise<string> {
  const copy = await mkdtemp(join(folder, 'changed-'));
  await cp(join(forms, name), copy, { recursive: true });
  const path = join(copy, file);
  const stored = JSON.parse(await readFile(path, 'utf8')) as object;
  await writeFile(path, JSON.stringify(Array.isArray(stored) ? changes : { ...stored, ...changes }));
  const options = { workers: 1, compiledWeights: 'fp32', cacheDirectory: folder } as const;
  const loaded = await loadEmbedder(copy, options).catch((error: Error) => error.message);
  if (typeof loaded === 'string') return loaded;
  await loaded.close();
  return 'it loads';
}

const transformer = { path: '', type: 'sentence_transformers.models.Transformer' };

describe('what is not understood is refused by name', () => {
  it.each([
    ['1_Pooling/config.json', { pooling_mode: 'attention' }, '"attention" is not supported'],
    ['1_Pooling/config.json', { pooling_mode_first_last_avg: true }, 'pooling_mode_first_last_avg'],
    ['1_Pooling/config.json', { include_prompt: false }, 'include_prompt'],
    ['2_Dense/config.json', { activation_function: 'torch.nn.modules.activation.Mish' }, 'Mish'],
    ['2_Dense/config.json', { module_input_name: 'token_embeddings' }, 'module_input_name'],
    ['sentence_bert_config.json', { query_length: 32 }, 'query_length'],
    ['sentence_bert_config.json', { transformer_task: 'text-generation' }, 'text-generation'],
    ['config_sentence_transformers.json', { similarity_fn_name: 'manhattan' }, 'manhattan'],
    ['modules.json', [transformer, { path: '1', type: 'sentence_transformers.models.CNN' }], 'CNN'],
    ['modules.json', [transformer, { path: '1', type: 'modeling_own.Pooling' }], 'modeling_own.Pooling'],
    [
      'modules.json',
      [transformer, { path: '../other', type: 'sentence_transformers.models.Dense' }],
      'outside',
    ],
  ])('%s with %j', async (file, changes, reason) => {
    expect(await refusalOf('every-module', file, changes)).toContain(reason);
  });

  it('a dot product of vectors that the model does not normalize', async () => {
    const changes = { similarity_fn_name: 'dot' };
    expect(await refusalOf('all-poolings', 'config_sentence_transformers.json', changes)).toContain('dot');
    expect(await refusalOf('every-module', 'config_sentence_transformers.json', changes)).toBe('it loads');
  });
});

it('names the prefixes, and takes others from its options', async () => {
  const options = { workers: 1, compiledWeights: 'fp32', cacheDirectory: folder } as const;
  const model = join(forms, 'prompts');
  const usual = await loadEmbedder(model, options);
  const other = await loadEmbedder(model, { ...options, prefixes: { query: '', document: 'a cat ' } });
  expect(usual.info.prefixes).toEqual({ query: 'query: ', document: 'passage: ' });
  const document = await other.embed(['dog'], { inputType: 'document' });
  const query = await other.embed(['a cat dog'], { inputType: 'query' });
  expect(document.vectors).toEqual(query.vectors);
  await Promise.all([usual.close(), other.close()]);
});
