/**
 * Measures prompts with and without the prefix cache, compared with peers, and the effect of a long prompt on running
 * completions.
 */
import { AutoModelForCausalLM, Tensor } from '@xenova/transformers';
import { loadGenerator, type Generator } from '#engine/generation';
import { interleave, type Result } from '../harness/interleave.js';
import { resultTable, table, targetHead } from '../harness/markdown.js';
import { quantile } from '../harness/interleave.js';
import type { BenchOptions, Subject } from '../harness/subject.js';
import { writeGguf } from './gguf.js';
import { LlamaCpp } from './llama-cpp.js';
import { benchFolder, digits, forTransformersJs, randomDecoder } from './models.js';
import { shape135m } from './random-decoder.js';

const prefixTokens = 512;
const newTokens = 64;
const [warm, cold] = ['a prefix of 512 tokens cached, 64 new', 'cold, 576 tokens'];

async function firstToken(generator: Generator, messages: string): Promise<number> {
  const parameters = { max_tokens: 1, ignore_eos: true };
  const request = { messages, parameters };
  let requests = 0;
  for await (const { usage } of generator.generate(request)) requests += usage ? 1 : 0;
  return requests;
}

async function peers(folder: string, threads: number) {
  const model = await AutoModelForCausalLM.from_pretrained(await forTransformersJs(folder, 'int8'), {
    dtype: 'fp32',
    session_options: { intraOpNumThreads: threads },
  });
  const length = prefixTokens + newTokens;
  const ids = Array.from({ length }, (_unused, index) => 20 + (index % 500));
  const transformersJs = async () => {
    const input_ids = new Tensor('int64', BigInt64Array.from(ids, BigInt), [1, length]);
    const attention_mask = new Tensor('int64', new BigInt64Array(length).fill(1n), [1, length]);
    await model.generate({ input_ids, attention_mask, max_new_tokens: 1 });
    return 1;
  };
  const llama = await LlamaCpp.open(await writeGguf(folder, shape135m), 1, threads).catch(() => undefined);
  return {
    contenders: [
      { name: 'transformers.js int8, cold', run: transformersJs },
      ...(llama
        ? [{ name: 'node-llama-cpp Q8_0, cold', run: async () => (await llama.generate([ids], 1)).length }]
        : []),
    ],
    close: async () => {
      await llama?.close();
    },
  };
}

async function measureFirstToken({ threads, rounds }: BenchOptions): Promise<Result[]> {
  const folder = await randomDecoder();
  const options = { cacheDirectory: benchFolder, threads, engine: 'compiled' } as const;
  const caching = await loadGenerator(folder, options);
  const forgetful = await loadGenerator(folder, { ...options, prefixCacheBytes: 0 });
  const others = await peers(folder, threads);
  const prefix = digits(prefixTokens, 1);
  let seed = 1;
  const prompt = () => prefix + digits(newTokens, ++seed);
  const results = await interleave(
    [
      { name: warm, run: () => firstToken(caching, prompt()) },
      { name: cold, run: () => firstToken(forgetful, prompt()) },
      ...others.contenders,
    ],
    Math.max(rounds, 5),
  );
  await others.close();
  await caching.close();
  await forgetful.close();
  return results;
}

/**
 * Milliseconds between the tokens of four streams, with and without the concurrent prefill of a prompt of 1,800 tokens.
 */
async function gapsBetweenTokens(generator: Generator, disturb: boolean): Promise<number[]> {
  const gaps: number[] = [];
  let disturbing: Promise<number> | undefined;
  const stream = async (seed: number) => {
    let last = 0;
    const parameters = { max_tokens: 60, ignore_eos: true };
    const request = { messages: digits(newTokens, seed), parameters };
    for await (const { tokenIds } of generator.generate(request)) {
      if (tokenIds.length === 0) continue;
      const now = performance.now();
      if (last > 0) gaps.push(now - last);
      last = now;
      if (disturb) disturbing ??= firstToken(generator, digits(1800, 9));
    }
  };
  await Promise.all([1, 2, 3, 4].map(stream));
  await disturbing;
  return gaps;
}

async function measureDisturbance({ threads, rounds }: BenchOptions): Promise<string> {
  const options = { cacheDirectory: benchFolder, threads, engine: 'compiled', prefixCacheBytes: 0 } as const;
  const generator = await loadGenerator(await randomDecoder(), options);
  const means: Record<string, number[]> = {};
  const all: Record<string, number[]> = {};
  for (let round = 0; round < rounds; round++) {
    for (const [name, disturb] of [
      ['undisturbed', false],
      ['a prompt of 1,800 tokens goes in', true],
    ] as const) {
      const gaps = await gapsBetweenTokens(generator, disturb);
      (means[name] ??= []).push(gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length);
      (all[name] ??= []).push(...gaps);
    }
  }
  await generator.close();
  const rows = Object.entries(all).map(([name, gaps]) => [
    name,
    ...[quantile(means[name]!, 0.5), quantile(gaps, 0.5), quantile(gaps, 0.99)].map((value) =>
      value.toFixed(0),
    ),
  ]);
  const [quiet = [], disturbed = []] = Object.values(means);
  const ratio = quantile(disturbed, 0.5) / quantile(quiet, 0.5);
  const head = ['milliseconds between tokens of 4 streams', 'mean', 'median', 'p99'];
  return `### A long prompt beside running answers\n\n${table(head, rows)}\n\nMean, disturbed against undisturbed: ${ratio.toFixed(2)} (target ≤ 2).`;
}

export const subject: Subject = {
  async run(options) {
    const results = await measureFirstToken(options);
    const share = (key: 'perSecond' | 'perCpuSecond') => (results[1]![key] / results[0]![key]).toFixed(3);
    const target = [
      'first token from a cached prefix, in times of cold',
      '≤ 0.15',
      share('perSecond'),
      share('perCpuSecond'),
    ];
    return [
      '## Prompts',
      'A 135M-shaped model of random weights, int8; until the first token.',
      resultTable('requests', results, cold),
      table(targetHead, [target]),
      await measureDisturbance(options),
    ].join('\n\n');
  },
};
