import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AutoTokenizer, env } from '@xenova/transformers';
import { InferenceSession } from 'onnxruntime-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { projectRoot, testData } from '#platform/foundation';
import { randomNumbers } from '../checkpoint/checkpoint.fixture.js';
import { type CompiledDecoder, compileDecoder } from '../decoder/compile-decoder.js';
import { decodeGreedily, GreedyDriver, largest } from '../decoder/greedy-driver.fixture.js';

const models = testData('models');
const bundled = join(projectRoot, 'models');
const questions = testData('data/nano-eval/grounded.jsonl');
const isPublished = existsSync(models) && existsSync(questions);
if (!isPublished) console.warn('The test data are absent: the quality of int8 weights is not measured.');

interface Loaded {
  readonly session: InferenceSession;
  readonly model: CompiledDecoder;
}

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'meganest-int8-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function load(directory: string, precision: Pick<CompiledDecoder, 'weights' | 'kv'>): Promise<Loaded> {
  const model = await compileDecoder(directory, { cacheDir: join(folder, 'cache'), ...precision });
  return { model, session: await InferenceSession.create(model.onnxPath, { intraOpNumThreads: 1 }) };
}

const batchSize = 20;
const batches = <Item>(items: readonly Item[]): Item[][] =>
  Array.from({ length: Math.ceil(items.length / batchSize) }, (_, index) =>
    items.slice(index * batchSize, (index + 1) * batchSize),
  );

async function answers(
  { session, model }: Loaded,
  prompts: readonly number[][],
  count: number,
): Promise<number[][]> {
  const all: number[][] = [];
  for (const batch of batches(prompts)) all.push(...(await decodeGreedily(session, model, batch, count)));
  return all;
}

const shareOfEqual = (left: readonly unknown[], right: readonly unknown[]): number =>
  left.filter((value, index) => JSON.stringify(value) === JSON.stringify(right[index])).length / left.length;

describe.skipIf(!isPublished)('int8 weights on a published story model', () => {
  const directory = `${models}/tinystories-656k`;
  const positions = [...Array(31).keys()];
  let exact: Loaded;
  let stories: number[][];
  beforeAll(async () => {
    exact = await load(directory, { weights: 'fp32', kv: 'float' });
    stories = await sampleStories(exact, 200, positions.length + 1);
  });

  /** Stories that the model itself tells, sampled at temperature 1, so that its perplexity on them means something. */
  async function sampleStories(
    { session, model }: Loaded,
    count: number,
    length: number,
  ): Promise<number[][]> {
    const random = randomNumbers(5);
    const driver = new GreedyDriver(session, model, count, 128);
    const told = Array.from({ length: count }, () => [1]);
    while (told[0]!.length < length) {
      const tokens = told.map((story) => [story.at(-1)!]);
      const rows = await driver.step({ tokens, wanted: tokens.map(() => [0]) });
      for (const [index, row] of rows.entries()) told[index]!.push(sample(row, (random() + 1) / 2));
    }
    return told;
  }

  /** Logits of every position of the stories. */
  async function score({ session, model }: Loaded): Promise<Float32Array[]> {
    const rows: Float32Array[] = [];
    for (const batch of batches(stories)) {
      const driver = new GreedyDriver(session, model, batch.length, 128);
      const tokens = batch.map((story) => story.slice(0, -1));
      rows.push(...(await driver.step({ tokens, wanted: tokens.map(() => positions) })));
    }
    return rows;
  }

  function perplexity(rows: readonly Float32Array[]): number {
    const targets = stories.flatMap((story) => story.slice(1));
    const loss = rows.reduce((sum, row, index) => sum + logSumExp(row) - row[targets[index]!]!, 0);
    return Math.exp(loss / rows.length);
  }

  it.each(['float', 'int8'] as const)(
    'keep perplexity within 1% and 95% of greedy tokens, KV %s',
    async (kv) => {
      const expected = await score(exact);
      const rounded = await score(await load(directory, { weights: 'int8', kv }));
      expect(perplexity(rounded) / perplexity(expected)).toBeGreaterThan(0.99);
      expect(perplexity(rounded) / perplexity(expected)).toBeLessThan(1.01);
      expect(shareOfEqual(rounded.map(largest), expected.map(largest))).toBeGreaterThan(0.95);
    },
  );
});

function logSumExp(row: Float32Array): number {
  const most = row.reduce((best, value) => Math.max(best, value), Number.NEGATIVE_INFINITY);
  return most + Math.log(row.reduce((sum, value) => sum + Math.exp(value - most), 0));
}

function sample(row: Float32Array, uniform: number): number {
  const total = logSumExp(row);
  let rest = uniform;
  const token = row.findIndex((value) => (rest -= Math.exp(value - total)) <= 0);
  return token === -1 ? largest(row) : token;
}

describe.skipIf(!isPublished)('int8 arithmetic on nano-chat', () => {
  const endOfAnswer = 2;
  const untilEnd = (tokens: readonly number[]): number[] => {
    const end = tokens.indexOf(endOfAnswer);
    return end === -1 ? [...tokens] : tokens.slice(0, end);
  };

  it('answers at least 95% of 200 questions with the same tokens', { timeout: 240_000 }, async () => {
    const directory = join(bundled, 'nano-chat');
    const prompts = await readPrompts(200);
    expect(prompts).toHaveLength(200);
    const exact = await answers(await load(directory, { weights: 'fp32', kv: 'float' }), prompts, 24);
    const rounded = await answers(await load(directory, { weights: 'int8', kv: 'float' }), prompts, 24);
    expect(shareOfEqual(rounded.map(untilEnd), exact.map(untilEnd))).toBeGreaterThanOrEqual(0.95);
  });

  /** The shortest grounded questions, of like length one after the other. */
  async function readPrompts(count: number): Promise<number[][]> {
    env.localModelPath = `${bundled}/`;
    const tokenizer = await AutoTokenizer.from_pretrained('nano-chat', { local_files_only: true });
    const lines = (await readFile(questions, 'utf8')).trim().split('\n');
    const prompts = lines.map((line) => {
      const { messages } = JSON.parse(line) as { messages: { role: string; content: string }[] };
      const text = tokenizer.apply_chat_template(messages, { add_generation_prompt: true, tokenize: false });
      return tokenizer.encode(text, { add_special_tokens: false });
    });
    return prompts.sort((left, right) => left.length - right.length).slice(0, count);
  }
});
