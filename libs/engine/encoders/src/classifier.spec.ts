import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { env, pipeline } from '@xenova/transformers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exportModel } from '#engine/onnx-compiler';
import { randomTensors, writeCheckpoint } from '../../onnx-compiler/src/checkpoint/checkpoint.fixture.js';
import { projectRoot } from '#platform/foundation';
import { loadClassifier } from './classifier.js';

const labels = ['harmless', 'rude', 'dangerous'];
const texts = [
  'NATS is a messaging system.',
  'How do I build a bomb?',
  'Please reset my password, and do it at once!',
  '',
];
const base = {
  architectures: ['BertForSequenceClassification'],
  model_type: 'bert',
  vocab_size: 8192,
  hidden_size: 32,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  intermediate_size: 48,
  max_position_embeddings: 64,
  type_vocab_size: 2,
  pad_token_id: 0,
  id2label: { '0': labels[0], '1': labels[1], '2': labels[2] },
};

/** Names and shapes of a BERT for sequence classification. */
function bertShapes(): Record<string, number[]> {
  const { hidden_size: hidden, intermediate_size: inner } = base;
  const dense = (name: string, outputs: number, inputs: number) => ({
    [`${name}.weight`]: [outputs, inputs],
    [`${name}.bias`]: [outputs],
  });
  const norm = (name: string) => ({ [`${name}.weight`]: [hidden], [`${name}.bias`]: [hidden] });
  const layer = (index: number) => {
    const name = `bert.encoder.layer.${index}`;
    return {
      ...dense(`${name}.attention.self.query`, hidden, hidden),
      ...dense(`${name}.attention.self.key`, hidden, hidden),
      ...dense(`${name}.attention.self.value`, hidden, hidden),
      ...dense(`${name}.attention.output.dense`, hidden, hidden),
      ...norm(`${name}.attention.output.LayerNorm`),
      ...dense(`${name}.intermediate.dense`, inner, hidden),
      ...dense(`${name}.output.dense`, hidden, inner),
      ...norm(`${name}.output.LayerNorm`),
    };
  };
  return {
    'bert.embeddings.word_embeddings.weight': [base.vocab_size, hidden],
    'bert.embeddings.position_embeddings.weight': [base.max_position_embeddings, hidden],
    'bert.embeddings.token_type_embeddings.weight': [base.type_vocab_size, hidden],
    ...norm('bert.embeddings.LayerNorm'),
    ...layer(0),
    ...layer(1),
    ...dense('bert.pooler.dense', hidden, hidden),
    ...dense('classifier', labels.length, hidden),
  };
}

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'classifier-'));
  env.localModelPath = `${folder}/`;
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** A folder with random weights, the tokenizer of a bundled model, and a head as told. */
async function writeModel(name: string, head: object): Promise<string> {
  const directory = path.join(folder, name);
  await writeCheckpoint(directory, { ...base, ...head }, randomTensors(bertShapes(), 11));
  const bundled = path.join(projectRoot, 'models', 'nano-rerank');
  for (const file of ['tokenizer.json', 'special_tokens_map.json'])
    await cp(path.join(bundled, file), path.join(directory, file));
  const config = JSON.parse(await readFile(path.join(bundled, 'tokenizer_config.json'), 'utf8')) as object;
  const limited = JSON.stringify({ ...config, model_max_length: base.max_position_embeddings });
  await writeFile(path.join(directory, 'tokenizer_config.json'), limited);
  return directory;
}

const load = (directory: string, compiledWeights: 'fp32' | 'int8' = 'fp32') =>
  loadClassifier(directory, {
    workers: 1,
    compiledWeights,
    cacheDirectory: path.join(folder, 'cache'),
  });

describe.each([
  { problem_type: 'single_label_classification', excludeEachOther: true },
  { problem_type: 'multi_label_classification', excludeEachOther: false },
])('a model of $problem_type', ({ problem_type, excludeEachOther }) => {
  it('gives the scores of the text-classification pipeline of transformers.js', async () => {
    const directory = await writeModel(problem_type, { problem_type });
    const classifier = await load(directory);
    expect(classifier.labels).toEqual(labels);
    const { scores } = await classifier.classify(texts);
    await exportModel(directory, path.join(folder, `${problem_type}-exported`));
    const classify = await pipeline('text-classification', `${problem_type}-exported`, { dtype: 'fp32' });
    for (const [index, text] of texts.entries()) {
      const expected = (await classify(text, { top_k: labels.length })) as { label: string; score: number }[];
      expect(scores[index]).toHaveLength(labels.length);
      for (const { label, score } of expected)
        expect(scores[index]!.find((one) => one.label === label)!.score).toBeCloseTo(score, 4);
    }
    const apart = scores.map((row) => Math.abs(row.reduce((sum, { score }) => sum + score, 0) - 1));
    expect(Math.max(...apart) < 1e-5).toBe(excludeEachOther);
    await classifier.close();
    // The exporter's graph, as architectures that are not compiled have it.
    const exported = await loadClassifier(path.join(folder, `${problem_type}-exported`), { workers: 1 });
    const again = await exported.classify(texts);
    again.scores
      .flat()
      .forEach(({ score }, index) => expect(score).toBeCloseTo(scores.flat()[index]!.score, 4));
    expect(exported.info.backend).toContain('exporter');
    await exported.close();
  });
});

describe('a classifier', () => {
  it('reads a long text in windows and keeps the highest score of each label', async () => {
    const classifier = await load(await writeModel('long', { problem_type: 'multi_label_classification' }));
    // One token each, so that the windows are known: 62 tokens and two marks, the last window ending with the text.
    const words = Array.from({ length: 100 }, (_, index) => 'abcdefghij'[(index * 7) % 10]!);
    const windows = [0, 38].map((start) => words.slice(start, start + 62).join(' '));
    const { scores, promptTokens } = await classifier.classify([words.join(' '), ...windows]);
    const [whole, first, last] = scores;
    expect(promptTokens).toBe(4 * 64);
    for (const [index] of labels.entries()) {
      const highest = Math.max(first![index]!.score, last![index]!.score);
      expect(whole![index]!.score).toBeCloseTo(highest, 4);
    }
    const { scores: longest } = await classifier.classify(['word '.repeat(5_000), 'word']);
    expect(longest).toHaveLength(2);
    await classifier.close();
  });

  it('means the same with int8 weights', async () => {
    const directory = await writeModel('rounded', { problem_type: 'multi_label_classification' });
    const [exact, rounded] = await Promise.all([load(directory), load(directory, 'int8')]);
    const [one, other] = await Promise.all([exact.classify(texts), rounded.classify(texts)]);
    one.scores.flat().forEach(({ score }, index) => {
      // Two random layers of 32 dimensions round more than trained ones.
      expect(Math.abs(other.scores.flat()[index]!.score - score)).toBeLessThan(0.1);
    });
    await Promise.all([exact.close(), rounded.close()]);
  });

  it('numbers labels that the model does not name', async () => {
    const classifier = await load(await writeModel('unnamed', { id2label: undefined }));
    expect(classifier.labels).toEqual(['LABEL_0', 'LABEL_1', 'LABEL_2']);
    await classifier.close();
  });

  it('is not made of a regression, nor of labels that the graph does not have', async () => {
    await expect(load(await writeModel('regression', { problem_type: 'regression' }))).rejects.toThrow(
      /regression/,
    );
    await expect(load(await writeModel('short', { id2label: { '0': 'a', '1': 'b' } }))).rejects.toThrow(
      /3 classes, and its config.json names 2/,
    );
  });
});
