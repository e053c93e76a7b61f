/**
 * Measures decoding: concurrent answers against single ones, against transformers.js and node-llama-cpp with the same
 * weights, and prompt lookup for answers that quote.
 */
import { AutoModelForCausalLM, Tensor } from '@xenova/transformers';
import { loadGenerator, type Generator } from '#engine/generation';
import { bandwidthTable, type StepBytes } from '../harness/bandwidth.js';
import { interleave, type Contender, type Result } from '../harness/interleave.js';
import { resultTable, table, targetHead, targetRow } from '../harness/markdown.js';
import type { BenchOptions, Subject } from '../harness/subject.js';
import { writeGguf } from './gguf.js';
import { LlamaCpp } from './llama-cpp.js';
import { benchFolder, bundledModel, digits, forTransformersJs, randomDecoder } from './models.js';
import { shape135m, stepBytes } from './random-decoder.js';

/** Short prompts, so that decoding dominates; the context stays below 256. */
const promptTokens = 8;
const newTokens = 160;
const batch = 8;

const names = {
  batch: `ours, ${batch} at once`,
  single: 'ours, one by one',
  transformersBatch: `transformers.js int8, batch of ${batch}`,
  transformersSingle: 'transformers.js int8, one by one',
  sampledBatch: `ours, ${batch} at once, sampled`,
  sampledSingle: 'ours, one by one, sampled',
  transformersSampled: 'transformers.js int8, one by one, sampled',
  llamaBatch: `node-llama-cpp Q8_0, ${batch} at once`,
  llamaSingle: 'node-llama-cpp Q8_0, one by one',
} as const;

const steps: readonly StepBytes[] = [
  { name: names.single, bytes: stepBytes('int8'), tokens: 1 },
  { name: names.transformersSingle, bytes: stepBytes('int8'), tokens: 1 },
  { name: names.llamaSingle, bytes: stepBytes('q8_0'), tokens: 1 },
  { name: names.batch, bytes: stepBytes('int8'), tokens: batch },
  { name: names.transformersBatch, bytes: stepBytes('int8'), tokens: batch },
  { name: names.llamaBatch, bytes: stepBytes('q8_0'), tokens: batch },
];

/** Settings that model cards recommend. */
const sampling = { temperature: 0.7, top_k: 20 };

async function answer(generator: Generator, seed: number, drawing = { temperature: 0 }): Promise<number> {
  const parameters = { max_tokens: newTokens, ignore_eos: true, ...drawing };
  let tokens = 0;
  const request = { messages: digits(promptTokens, seed), parameters };
  for await (const { tokenIds } of generator.generate(request)) tokens += tokenIds.length;
  return tokens;
}

async function ourContenders(generator: Generator): Promise<Contender[]> {
  const seeds = Array.from({ length: batch }, (_unused, seed) => seed);
  const together = async (drawing?: typeof sampling) => {
    const counts = await Promise.all(seeds.map((seed) => answer(generator, seed, drawing)));
    return counts.reduce((sum, count) => sum + count, 0);
  };
  return [
    { name: names.batch, run: () => together() },
    { name: names.single, run: () => answer(generator, 1) },
    { name: names.sampledBatch, run: () => together(sampling) },
    { name: names.sampledSingle, run: () => answer(generator, 1, sampling) },
  ];
}

async function transformersJs(folder: string, threads: number): Promise<Contender[]> {
  const model = await AutoModelForCausalLM.from_pretrained(await forTransformersJs(folder, 'int8'), {
    dtype: 'fp32',
    session_options: { intraOpNumThreads: threads },
  });
  const generate = async (size: number, drawing: object = {}) => {
    const dims = [size, promptTokens];
    const ids = BigInt64Array.from({ length: size * promptTokens }, (_unused, index) =>
      BigInt(20 + (index % 500)),
    );
    const input_ids = new Tensor('int64', ids, dims);
    const attention_mask = new Tensor('int64', new BigInt64Array(ids.length).fill(1n), dims);
    const length = { max_new_tokens: newTokens, min_new_tokens: newTokens };
    await model.generate({ input_ids, attention_mask, ...length, ...drawing });
    return size * newTokens;
  };
  return [
    { name: names.transformersBatch, run: () => generate(batch) },
    { name: names.transformersSingle, run: () => generate(1) },
    { name: names.transformersSampled, run: () => generate(1, { do_sample: true, ...sampling }) },
  ];
}

function llamaContenders(llama: LlamaCpp): Contender[] {
  const prompts = Array.from({ length: batch }, (_unused, seed) =>
    Array.from({ length: promptTokens }, (_token, index) => 20 + ((seed * 7 + index) % 500)),
  );
  const generate = async (size: number) => {
    const answers = await llama.generate(prompts.slice(0, size), newTokens);
    return answers.flat().length;
  };
  return [
    { name: names.llamaBatch, run: () => generate(batch) },
    { name: names.llamaSingle, run: () => generate(1) },
  ];
}

/** The results, and the reason if node-llama-cpp is missing. */
async function measureSpeed({
  threads,
  rounds,
}: BenchOptions): Promise<{ results: Result[]; leftOut?: string }> {
  const folder = await randomDecoder();
  const options = { cacheDirectory: benchFolder, threads, engine: 'compiled', prefixCacheBytes: 0 } as const;
  const generator = await loadGenerator(folder, options);
  let leftOut: string | undefined;
  const llama = await LlamaCpp.open(await writeGguf(folder, shape135m), batch, threads).catch(
    (error: unknown) => {
      leftOut = `node-llama-cpp is left out: ${error instanceof Error ? error.message : String(error)}`;
      return undefined;
    },
  );
  const contenders = [
    ...(await ourContenders(generator)),
    ...(await transformersJs(folder, threads)),
    ...(llama ? llamaContenders(llama) : []),
  ];
  const results = await interleave(contenders, rounds);
  await generator.close();
  await llama?.close();
  return { results, ...(leftOut && { leftOut }) };
}

const passages = `[1] Employees receive 25 days of paid vacation per year. Vacation requests must be sent to the manager two weeks in advance. Unused days expire on March 31.
[2] The office in Lisbon opens at 8 am and closes at 7 pm. Visitors have to register at the reception desk.
[3] Zorvex is a message broker written in Rust. It stores its log on disk and replicates it to three nodes.`;
const questions = [
  'How many days of paid vacation do employees receive?',
  'When does the office in Lisbon open?',
  'What is Zorvex?',
  'When do unused days expire?',
];

/** Speed from the first token to the end, which prompt lookup affects. */
async function quote(generator: Generator, parameters: object): Promise<{ tokens: number; seconds: number }> {
  let [tokens, seconds] = [0, 0];
  for (const question of questions) {
    const content = `### Search results:\n${passages}\n\n### Question: ${question}`;
    const request = { messages: [{ role: 'user' as const, content }], parameters };
    let firstAt = 0;
    for await (const { usage } of generator.generate(request)) {
      firstAt ||= performance.now();
      tokens += usage ? usage.completionTokens - 1 : 0;
    }
    seconds += (performance.now() - firstAt) / 1000;
  }
  return { tokens, seconds };
}

async function measureLookup({ threads, rounds }: BenchOptions): Promise<string> {
  const generator = await loadGenerator(bundledModel('nano-chat'), { cacheDirectory: benchFolder, threads });
  const decodeOnly: Record<string, number[]> = {};
  const contender = (name: string, parameters: object): Contender => ({
    name,
    run: async () => {
      const { tokens, seconds } = await quote(generator, parameters);
      (decodeOnly[name] ??= []).push(tokens / seconds);
      return tokens + questions.length;
    },
  });
  const [guessing, plain] = ['prompt lookup, 7 tokens', 'plain'] as const;
  const results = await interleave(
    [contender(guessing, { num_assistant_tokens: 7 }), contender(plain, {})],
    Math.max(rounds, 15),
  );
  await generator.close();
  const behind = Object.entries(decodeOnly).map(([name, speeds]) => ({
    name,
    perSecond: speeds.toSorted((a, b) => a - b)[speeds.length >> 1]!,
    perCpuSecond: Number.NaN,
  }));
  const rows = [
    targetRow('whole requests, prompts cached', 'none set', results, [guessing, plain]),
    targetRow('behind the first token', '≥ 2', behind, [guessing, plain]),
  ];
  return `### Prompt lookup: answers of nano-chat that quote\n\n${resultTable('tokens', results)}\n\n${table(targetHead, rows)}`;
}

export const subject: Subject = {
  async run(options) {
    const { results, leftOut } = await measureSpeed(options);
    const targets = [
      targetRow('8 at once, against one by one', '≥ 4', results, [names.batch, names.single]),
      targetRow('8 at once, against node-llama-cpp', '≥ 3', results, [names.batch, names.llamaBatch]),
      targetRow('8 at once, against transformers.js', '≥ 2.5', results, [
        names.batch,
        names.transformersBatch,
      ]),
      targetRow('one by one, against node-llama-cpp', '≥ 1', results, [names.single, names.llamaSingle]),
      targetRow('one by one, against transformers.js', '≥ 1.6', results, [
        names.single,
        names.transformersSingle,
      ]),
    ];
    const bandwidth = await bandwidthTable(results, steps, options.threads);
    const lookup = await measureLookup(options);
    const tables = [
      resultTable('tokens', results, names.single),
      table(targetHead, targets),
      bandwidth,
      lookup,
    ];
    return ['## Decoding', introduction, ...(leftOut ? [leftOut] : []), ...tables].join('\n\n');
  },
};

const introduction = `A 135M-shaped model of random weights, ${newTokens} tokens behind prompts of ${promptTokens}; int8 weights in all, the same numbers.
transformers.js runs the graph as exporters write it, node-llama-cpp a GGUF written by the bench.`;
