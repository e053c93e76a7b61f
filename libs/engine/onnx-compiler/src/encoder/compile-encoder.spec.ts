import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { InferenceSession, Tensor } from 'onnxruntime-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { projectRoot, testData } from '#platform/foundation';
import { dot, linear } from '../onnx/arithmetic.fixture.js';
import { randomTensors, writeCheckpoint } from '../checkpoint/checkpoint.fixture.js';
import { type CompileEncoderOptions, compileEncoder } from './compile-encoder.js';
import { readExportedEncoder } from './exported-encoder.fixture.js';
import { robertaShapes, robertaStates, tinyRoberta } from './reference-encoder.fixture.js';

const published = testData('models');
const isPublished = existsSync(published);
if (!isPublished) console.warn(`${published} is absent: the comparisons with exported encoders are skipped.`);

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'meganest-compiler-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Texts of unequal length, as token ids. */
const sentences = [
  [2, 100, 200, 300, 3],
  [2, 500, 600, 700, 800, 900, 1000, 1100, 1900, 4000, 3],
  [2, 17, 3],
];

/** Runs padded sentences; returns the rows of the output that the graph has. */
async function run(session: InferenceSession, rows: readonly (readonly number[])[]): Promise<Tensor> {
  const width = Math.max(...rows.map((row) => row.length));
  const grid = (cell: (row: readonly number[], column: number) => number): Tensor => {
    const cells = rows.flatMap((row) => Array.from({ length: width }, (_, column) => cell(row, column)));
    return new Tensor('int64', BigInt64Array.from(cells, BigInt), [rows.length, width]);
  };
  const all: Record<string, Tensor> = {
    input_ids: grid((row, column) => row[column] ?? 0),
    attention_mask: grid((row, column) => (column < row.length ? 1 : 0)),
    token_type_ids: grid(() => 0),
  };
  const outputs = await session.run(Object.fromEntries(session.inputNames.map((name) => [name, all[name]!])));
  return outputs[session.outputNames[0]!]!;
}

const rowsOf = (tensor: Tensor): number[][] => {
  const width = tensor.dims.at(-1)!;
  const values = [...(tensor.data as Float32Array)];
  return Array.from({ length: values.length / width }, (_, row) =>
    values.slice(row * width, (row + 1) * width),
  );
};

async function compiledRows(
  directory: string,
  options: Omit<CompileEncoderOptions, 'cacheDir'>,
  rows: readonly (readonly number[])[] = sentences,
): Promise<number[][]> {
  const { onnxPath } = await compileEncoder(directory, { cacheDir: join(folder, 'cache'), ...options });
  return rowsOf(await run(await InferenceSession.create(onnxPath, { intraOpNumThreads: 1 }), rows));
}

/** Largest difference between two results of the same shape. */
function distance(actual: readonly number[][], expected: readonly number[][]): number {
  const differences = expected.flatMap((row, index) =>
    row.map((value, column) => Math.abs(actual[index]![column]! - value)),
  );
  return Math.max(...differences);
}

const unit = (vector: readonly number[]): number[] => {
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
};

describe.skipIf(!isPublished)('compileEncoder on exported weights', () => {
  /** A checkpoint with exactly the weights of the exported graph. */
  async function checkpoint(name: string, prefix: string): Promise<string> {
    const directory = join(folder, name);
    const config: unknown = JSON.parse(await readFile(`${published}/${name}/config.json`, 'utf8'));
    const tensors = await readExportedEncoder(`${published}/${name}/onnx/model_quantized.onnx`, prefix);
    await writeCheckpoint(directory, config as object, tensors);
    return directory;
  }

  /** Results of the exported graph, one sentence at a time: token states pooled by mean, or logits. */
  async function exportedRows(name: string): Promise<number[][]> {
    const session = await InferenceSession.create(`${published}/${name}/onnx/model_quantized.onnx`);
    const results: number[][] = [];
    for (const sentence of sentences) {
      const rows = rowsOf(await run(session, [sentence]));
      const sum = rows[0]!.map((_, column) => rows.reduce((total, row) => total + row[column]!, 0));
      results.push(rows.length > 1 ? unit(sum) : sum);
    }
    return results;
  }

  it('embeds like the exported graph within 1e-4, whatever the batch', async () => {
    const rows = await compiledRows(await checkpoint('nano-embed', ''), {
      task: 'embedding',
      weights: 'fp32',
    });
    expect(distance(rows, await exportedRows('nano-embed'))).toBeLessThan(1e-4);
  });

  it('scores like the exported graph within 1e-4', async () => {
    const options = { task: 'classification', weights: 'fp32' } as const;
    const rows = await compiledRows(await checkpoint('nano-rerank', 'bert.'), options);
    expect(distance(rows, await exportedRows('nano-rerank'))).toBeLessThan(1e-4);
  });
});

describe('compileEncoder with int8 weights', () => {
  const directory = join(projectRoot, 'models', 'nano-embed');

  it.each(['tensor', 'row'] as const)(
    'stays within a cosine of 0.999, activations by %s',
    async (activations) => {
      const exact = await compiledRows(directory, { task: 'embedding', weights: 'fp32' });
      const rounded = await compiledRows(directory, { task: 'embedding', weights: 'int8', activations });
      const cosines = exact.map((row, index) => dot(row, rounded[index]!));
      expect(Math.min(...cosines)).toBeGreaterThan(0.999);
    },
  );
});

describe('compileEncoder on a generated XLM-R', () => {
  const tensors = randomTensors(robertaShapes(), 7);
  const texts = [
    [0, 5, 9, 33, 60, 2],
    [0, 12, 2],
    [0, 7, 7, 8, 21, 40, 41, 2],
  ];
  let directory: string;
  beforeAll(async () => {
    directory = join(folder, 'xlm-r');
    await writeCheckpoint(directory, tinyRoberta, tensors);
  });

  // float32 against float64 over two layers: a few units in the sixth digit.
  it('pools the first token like a double-precision forward pass', async () => {
    const rows = await compiledRows(directory, { task: 'embedding', weights: 'fp32', pooling: 'cls' }, texts);
    const expected = texts.map((ids) => unit(robertaStates(tensors, ids)[0]!));
    expect(distance(rows, expected)).toBeLessThan(1e-5);
  });

  it('pools the mean of the tokens, padding left out', async () => {
    const rows = await compiledRows(directory, { task: 'embedding', weights: 'fp32' }, texts);
    const expected = texts.map((ids) => {
      const states = robertaStates(tensors, ids);
      return unit(states[0]!.map((_, column) => states.reduce((sum, state) => sum + state[column]!, 0)));
    });
    expect(distance(rows, expected)).toBeLessThan(1e-5);
  });

  it('classifies like a double-precision forward pass', async () => {
    const rows = await compiledRows(directory, { task: 'classification', weights: 'fp32' }, texts);
    const expected = texts.map((ids) => {
      const inner = linear(tensors, 'classifier.dense', robertaStates(tensors, ids)[0]!).map(Math.tanh);
      return linear(tensors, 'classifier.out_proj', inner);
    });
    expect(distance(rows, expected)).toBeLessThan(1e-4);
  });

  it('gives a text the same int8 vector in any batch when activations are quantized by row', async () => {
    const options = { task: 'embedding', weights: 'int8', activations: 'row', pooling: 'cls' } as const;
    const together = await compiledRows(directory, options, texts);
    for (const [index, text] of texts.entries())
      expect(distance(await compiledRows(directory, options, [text]), [together[index]!])).toBeLessThan(1e-6);
  });
});
