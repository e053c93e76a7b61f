import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  AutoModel,
  AutoModelForSequenceClassification,
  env,
  Tensor as TheirTensor,
} from '@xenova/transformers';
import { InferenceSession, Tensor } from 'onnxruntime-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { randomTensors, writeCheckpoint } from '../checkpoint/checkpoint.fixture.js';
import { exportModel } from '../export-model.js';
import { UnsupportedModelError } from '../config-file.js';
import { type CompileEncoderOptions, compileEncoder } from './compile-encoder.js';
import { readEncoderShape } from './encoder-config.js';
import {
  modernBertScores,
  modernBertShapes,
  modernBertStates,
  tinyModernBert,
} from './reference-modernbert.fixture.js';

const texts = [
  [1, 5, 9, 33, 60, 2],
  [1, 12, 2],
  [1, 7, 7, 8, 21, 40, 41, 50, 51, 52, 3, 4, 2],
];
const embedder = randomTensors(modernBertShapes(tinyModernBert), 41);
const classifier = randomTensors(modernBertShapes(tinyModernBert, 3), 42);

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'meganest-modernbert-'));
  const [base, scores] = ['ModernBertModel', 'ModernBertForSequenceClassification'];
  await writeCheckpoint(join(folder, 'embedder'), { ...tinyModernBert, architectures: [base] }, embedder);
  await writeCheckpoint(
    join(folder, 'classifier'),
    { ...tinyModernBert, architectures: [scores] },
    classifier,
  );
  env.localModelPath = `${folder}/`;
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const cell = (
  rows: readonly (readonly number[])[],
  value: (row: readonly number[], column: number) => number,
) => {
  const width = Math.max(...rows.map((row) => row.length));
  return rows.flatMap((row) => Array.from({ length: width }, (_unused, column) => value(row, column)));
};
const feedsOf = (rows: readonly (readonly number[])[]) => ({
  input_ids: cell(rows, (row, column) => row[column] ?? 0),
  attention_mask: cell(rows, (row, column) => (column < row.length ? 1 : 0)),
});

/** Rows of the output of a compiled encoder, all texts in one batch. */
async function compiledRows(name: string, options: Omit<CompileEncoderOptions, 'cacheDir'>, rows = texts) {
  const { onnxPath } = await compileEncoder(join(folder, name), {
    cacheDir: join(folder, 'cache'),
    ...options,
  });
  const session = await InferenceSession.create(onnxPath, { intraOpNumThreads: 1 });
  const feeds = Object.entries(feedsOf(rows)).map(([input, values]) => {
    const dims = [rows.length, values.length / rows.length];
    return [input, new Tensor('int64', BigInt64Array.from(values, BigInt), dims)] as const;
  });
  const outputs = await session.run(Object.fromEntries(feeds));
  const [output] = Object.values(outputs);
  const width = output!.dims[1]!;
  const values = [...(output!.data as Float32Array)];
  return rows.map((_row, index) => values.slice(index * width, (index + 1) * width));
}

const distance = (actual: readonly number[][], expected: readonly number[][]): number =>
  Math.max(...expected.flatMap((row, index) => row.map((value, i) => Math.abs(actual[index]![i]! - value))));
const unit = (vector: readonly number[]): number[] => {
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
};

describe('a compiled ModernBERT', () => {
  it.each(['cls', 'mean'] as const)(
    'embeds like a double-precision forward pass, pooled by %s',
    async (pooling) => {
      const rows = await compiledRows('embedder', { task: 'embedding', weights: 'fp32', pooling });
      const expected = texts.map((ids) => {
        const states = modernBertStates(embedder, ids, tinyModernBert);
        const sum = states[0]!.map((_value, i) => states.reduce((total, state) => total + state[i]!, 0));
        return unit(pooling === 'cls' ? states[0]! : sum);
      });
      expect(distance(rows, expected)).toBeLessThan(1e-5);
    },
  );

  it('classifies like a double-precision forward pass', async () => {
    const rows = await compiledRows('classifier', { task: 'classification', weights: 'fp32' });
    expect(
      distance(
        rows,
        texts.map((ids) => modernBertScores(classifier, ids, tinyModernBert)),
      ),
    ).toBeLessThan(1e-4);
  });

  it('gives a text the same int8 vector in any batch', async () => {
    const options = { task: 'embedding', weights: 'int8', activations: 'row', pooling: 'cls' } as const;
    const together = await compiledRows('embedder', options);
    for (const [index, text] of texts.entries())
      expect(distance(await compiledRows('embedder', options, [text]), [together[index]!])).toBeLessThan(
        1e-6,
      );
  });

  it('has the states and scores that transformers.js computes', { timeout: 60_000 }, async () => {
    const options = { dtype: 'fp32', local_files_only: true } as const;
    const [ids = []] = [texts[2]];
    const inputs = Object.fromEntries(
      Object.entries(feedsOf([ids])).map(([name, values]) => [
        name,
        new TheirTensor('int64', BigInt64Array.from(values, BigInt), [1, values.length]),
      ]),
    );
    await exportModel(join(folder, 'embedder'), join(folder, 'exported-embedder'));
    const model = await AutoModel.from_pretrained('exported-embedder', options);
    const { last_hidden_state: states } = (await model(inputs)) as Record<string, TheirTensor>;
    const first = [...(states!.data as Float32Array)].slice(0, tinyModernBert.hidden_size);
    const rows = await compiledRows('embedder', { task: 'embedding', weights: 'fp32', pooling: 'cls' }, [
      ids,
    ]);
    expect(distance(rows, [unit(first)])).toBeLessThan(1e-5);
    await exportModel(join(folder, 'classifier'), join(folder, 'exported-classifier'));
    const scorer = await AutoModelForSequenceClassification.from_pretrained('exported-classifier', options);
    const { logits } = (await scorer(inputs)) as Record<string, TheirTensor>;
    const scores = await compiledRows('classifier', { task: 'classification', weights: 'fp32' }, [ids]);
    expect(distance(scores, [[...(logits!.data as Float32Array)]])).toBeLessThan(1e-4);
    await Promise.all([model.dispose(), scorer.dispose()]);
  });
});

describe('the config.json of a ModernBERT', () => {
  const shapeOf = async (changes: object) => {
    const directory = join(folder, 'config');
    await writeCheckpoint(directory, { ...tinyModernBert, ...changes }, embedder);
    return readEncoderShape(directory);
  };

  it('may have the names of later releases', async () => {
    const expected = await shapeOf({});
    const later = await shapeOf({
      global_rope_theta: undefined,
      local_rope_theta: undefined,
      layer_types: ['full_attention', 'sliding_attention', 'sliding_attention', 'full_attention'],
      rope_parameters: {
        full_attention: { rope_type: 'default', rope_theta: 160_000 },
        sliding_attention: { rope_type: 'default', rope_theta: 100 },
      },
    });
    expect(later).toEqual(expected);
  });

  it.each([
    [{ hidden_activation: 'relu' }, 'hidden_activation "relu"'],
    [{ num_attention_heads: 5 }, 'a head dimension of 6.4'],
  ])('names what is not supported: %o', async (changes, feature) => {
    const failure = await shapeOf(changes).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(UnsupportedModelError);
    expect((failure as UnsupportedModelError).feature).toBe(feature);
  });
});
