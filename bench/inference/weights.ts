/**
 * 4-bit weights and an int8 cache against int8 and fp32: perplexity of the bundled model and of a story model, and speed
 * of single sequences, of eight at once and of prompts on the 135M shape.
 */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { InferenceSession, Tensor } from 'onnxruntime-node';
import { testData } from '#platform/foundation';
import { loadGenerator, type Generator } from '#engine/generation';
import { TextTokenizer } from '#engine/models';
import {
  type WeightBlock,
  compileDecoder,
  type CompiledDecoder,
  type WeightPrecision,
} from '#engine/onnx-compiler';
import { bandwidthTable } from '../harness/bandwidth.js';
import { interleave, type Contender } from '../harness/interleave.js';
import { resultTable, table, targetHead, targetRow } from '../harness/markdown.js';
import type { BenchOptions, Subject } from '../harness/subject.js';
import { CacheTensors } from './cache-feeds.js';
import { benchFolder, bundledModel, digits, randomDecoder } from './models.js';
import { stepBytes } from './random-decoder.js';

interface Form {
  readonly weights: WeightPrecision;
  readonly block?: WeightBlock;
  readonly keyValues?: 'int8';
}

const forms: Readonly<Record<string, Form>> = {
  fp32: { weights: 'fp32' },
  int8: { weights: 'int8' },
  'int8, int8 cache': { weights: 'int8', keyValues: 'int8' },
  'int8, rows': { weights: 'int8', block: 'row' },
  'int4, blocks of 128': { weights: 'int4', block: 128 },
  'int4, blocks of 32': { weights: 'int4', block: 32 },
};

interface SampledText {
  readonly tokens: readonly number[];
  /** Tokens of the prompt; the model wrote the others. */
  readonly given: number;
}

const sampledTexts = 40;
const sampledTokens = 96;

/** Texts that the fp32 model writes at temperature 1; its own perplexity on them is the minimum for any model. */
async function sampleTexts(folder: string): Promise<SampledText[]> {
  const tokenizer = await TextTokenizer.load(folder);
  const generator = await loadGenerator(folder, {
    cacheDirectory: benchFolder,
    engine: 'compiled',
    weights: 'fp32',
  });
  const texts = await Promise.all(
    Array.from({ length: sampledTexts }, async (_unused, seed) => {
      const parameters = { max_tokens: sampledTokens, ignore_eos: true, temperature: 1, top_p: 1, seed };
      const messages = `Text ${seed}:`;
      const tokens = tokenizer.encodeMarked(messages);
      const given = tokens.length;
      for await (const { tokenIds } of generator.generate({ messages, parameters })) tokens.push(...tokenIds);
      return { tokens, given };
    }),
  );
  await generator.close();
  return texts;
}

/** Perplexity of the tokens after the prompts. */
async function perplexity(model: CompiledDecoder, texts: readonly SampledText[]): Promise<number> {
  const session = await InferenceSession.create(model.onnxPath, {
    intraOpNumThreads: 1,
    logSeverityLevel: 3,
  });
  let [loss, count] = [0, 0];
  for (const { tokens, given } of texts) {
    const { logits } = await session.run(feedsOf(model, tokens.slice(0, -1), given - 1), ['logits']);
    const values = logits!.data as Float32Array;
    for (const [row, target] of tokens.slice(given).entries()) {
      const scores = values.subarray(row * model.vocabularySize, (row + 1) * model.vocabularySize);
      loss += logSumExp(scores) - scores[target]!;
      count += 1;
    }
  }
  await session.release();
  return Math.exp(loss / count);
}

/**
 * Inputs for a whole text in one pass without a past; the logits of the positions from `first` on are requested. The noise in
 * the cache is masked.
 */
function feedsOf(model: CompiledDecoder, tokens: readonly number[], first: number): Record<string, Tensor> {
  const wanted = [...tokens.keys()].slice(first);
  const int64 = (values: readonly number[], dims: readonly number[]) =>
    new Tensor('int64', BigInt64Array.from(values, BigInt), dims);
  return {
    input_ids: int64(tokens, [1, tokens.length]),
    past_lengths: int64([0], [1]),
    logit_positions: int64(wanted, [wanted.length]),
    ...new CacheTensors(model, 1, 128).feeds,
  };
}

function logSumExp(scores: Float32Array): number {
  let most = Number.NEGATIVE_INFINITY;
  for (const score of scores) most = Math.max(most, score);
  let sum = 0;
  for (const score of scores) sum += Math.exp(score - most);
  return most + Math.log(sum);
}

async function measureQuality(): Promise<string> {
  const stories = testData('models/tinystories-656k');
  const folders = [bundledModel('nano-chat'), ...(existsSync(stories) ? [stories] : [])];
  const rows: string[][] = [];
  for (const folder of folders) {
    const texts = await sampleTexts(folder);
    const values: number[] = [];
    for (const { keyValues: kv = 'float', ...form } of Object.values(forms)) {
      const cacheDir = path.join(benchFolder, 'compiled');
      values.push(await perplexity(await compileDecoder(folder, { cacheDir, kv, ...form }), texts));
    }
    const base = values[0]!;
    rows.push([
      path.basename(folder),
      ...values.map((value) => `${value.toFixed(3)} (${(value / base).toFixed(3)})`),
    ]);
  }
  return table(['perplexity (ratio to fp32)', ...Object.keys(forms)], rows);
}

const promptTokens = 512;
const newTokens = 96;
const batch = 8;

async function answer(generator: Generator, prompt: string, tokens: number): Promise<number> {
  const parameters = { max_tokens: tokens, ignore_eos: true, temperature: 0 };
  let count = 0;
  for await (const { tokenIds } of generator.generate({ messages: prompt, parameters }))
    count += tokenIds.length;
  return count;
}

async function measureSpeed({ threads, rounds }: BenchOptions): Promise<string> {
  const folder = await randomDecoder();
  const names = ['int8', 'int4, blocks of 128', 'int4, blocks of 32'] as const;
  const generators: Generator[] = [];
  for (const name of names)
    generators.push(
      await loadGenerator(folder, {
        cacheDirectory: benchFolder,
        threads,
        engine: 'compiled',
        prefixCacheBytes: 0,
        ...forms[name],
      }),
    );
  const works: Readonly<Record<string, (generator: Generator) => Promise<number>>> = {
    'one sequence': (generator) => answer(generator, digits(8, 1), newTokens),
    '8 at once': async (generator) => {
      const prompts = Array.from({ length: batch }, (_unused, seed) => digits(8, seed));
      const counts = await Promise.all(prompts.map((prompt) => answer(generator, prompt, newTokens)));
      return counts.reduce((sum, count) => sum + count, 0);
    },
    prompts: async (generator) => {
      await answer(generator, digits(promptTokens, 3), 1);
      return promptTokens;
    },
  };
  const targets: Readonly<Record<string, string>> = {
    'one sequence': '≥ 1.4',
    '8 at once': '≥ 0.85',
    prompts: '≥ 0.5',
  };
  const sections: string[] = [];
  const targetRows: string[][] = [];
  for (const [work, run] of Object.entries(works)) {
    const contenders = names.map((name, index): Contender => ({ name, run: () => run(generators[index]!) }));
    const results = await interleave(contenders, rounds);
    sections.push(`### ${work}\n\n${resultTable('tokens', results, 'int8')}`);
    if (work === 'one sequence') {
      const steps = names.map((name) => ({ name, bytes: stepBytes(name), tokens: 1 }));
      sections.push(await bandwidthTable(results, steps, threads));
    }
    for (const name of names.slice(1))
      targetRows.push(targetRow(`${work}: ${name}`, targets[work]!, results, [name, 'int8']));
  }
  for (const generator of generators) await generator.close();
  return [...sections, '### Against int8', table(targetHead, targetRows)].join('\n\n');
}

export const subject: Subject = {
  async run(options) {
    return [
      '## Weights in 4 bits',
      introduction,
      await measureQuality(),
      ...(options.rounds > 0 ? [await measureSpeed(options)] : []),
    ].join('\n\n');
  },
};

const introduction = `Perplexity on ${sampledTexts} texts of ${sampledTokens} tokens that the fp32 model writes at temperature 1. Speed on a 135M-shaped model of
random weights: ${newTokens} tokens behind prompts of 8, and prompts of ${promptTokens} tokens; embeddings and output layer are int8 in all.`;
