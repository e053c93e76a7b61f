/**
 * The generation engine on a 135M-shaped model of random weights, and on nano-chat for what needs a model that quotes:
 * concurrency, prefix cache, prompt lookup, the effect of a long prompt on running streams, transformers.js.
 * Run: `npm run build && node dist/bench/inference/engine.js [folder of nano-chat with safetensors] [threads]`.
 */
import { copyFile } from 'node:fs/promises';
import path from 'node:path';
import { AutoModelForCausalLM, env, Tensor } from '@xenova/transformers';
import { exportDecoder, loadGenerator, type Generator } from '#inference';
import { interleave, printTable, type Contender } from './interleave.js';
import { makeRandomDecoder } from './random-decoder.js';

const chatFolder = path.resolve(process.argv[2] ?? 'models/nano-chat');
const threads = Number(process.argv[3] ?? 1);
const folder = path.resolve('.data', 'bench');
const rounds = 3;

const randomFolder = await makeRandomDecoder(path.join(folder, 'random-135m'));
for (const file of ['tokenizer.json', 'tokenizer_config.json']) {
  await copyFile(path.join(chatFolder, file), path.join(randomFolder, file));
}
const options = { cacheDirectory: folder, threads, engine: 'compiled' } as const;
const large = await loadGenerator(randomFolder, options);
const cold = await loadGenerator(randomFolder, { ...options, prefixCacheBytes: 0 });
const chat = await loadGenerator(chatFolder, options);

/** Every digit is a token of its own in nano-chat's vocabulary. */
const prompt = (tokens: number, seed: number) =>
  Array.from({ length: tokens }, (_unused, index) => (seed * 7 + index * index) % 10).join('');

async function generate(generator: Generator, messages: string, maxTokens: number): Promise<number> {
  const parameters = { max_tokens: maxTokens, ignore_eos: true };
  let tokens = 0;
  for await (const event of generator.generate({ messages, parameters })) tokens += event.tokenIds.length;
  return tokens;
}

async function sequential(count: number, maxTokens: number): Promise<number> {
  let tokens = 0;
  for (let seed = 0; seed < count; seed++) tokens += await generate(cold, prompt(64, seed), maxTokens);
  return tokens;
}

async function concurrent(count: number, maxTokens: number): Promise<number> {
  const prompts = Array.from({ length: count }, (_unused, seed) => prompt(64, seed));
  const tokens = await Promise.all(prompts.map((messages) => generate(cold, messages, maxTokens)));
  return tokens.reduce((sum, value) => sum + value, 0);
}

async function transformersJs(): Promise<(batch: number, maxTokens: number) => Promise<number>> {
  await exportDecoder(randomFolder, path.join(randomFolder, 'onnx'), 'int8');
  env.localModelPath = `${folder}/`;
  env.allowRemoteModels = false;
  const model = await AutoModelForCausalLM.from_pretrained('random-135m', {
    dtype: 'fp32',
    session_options: { intraOpNumThreads: threads },
  });
  return async (batch, maxTokens) => {
    const ids = Array.from({ length: batch * 64 }, (_unused, index) => BigInt(20 + (index % 500)));
    const input_ids = new Tensor('int64', BigInt64Array.from(ids), [batch, 64]);
    const attention_mask = new Tensor('int64', new BigInt64Array(batch * 64).fill(1n), [batch, 64]);
    await model.generate({ input_ids, attention_mask, max_new_tokens: maxTokens, min_new_tokens: maxTokens });
    return batch * maxTokens;
  };
}

async function benchDecode(): Promise<void> {
  const peer = await transformersJs();
  const contenders: Contender[] = [
    { name: 'ours, 8 at once', run: () => concurrent(8, 128) },
    { name: 'ours, one by one', run: () => sequential(2, 128) },
    { name: 'transformers.js int8, batch 8', run: () => peer(8, 128) },
    { name: 'transformers.js int8, one by one', run: () => peer(1, 128) },
  ];
  const title = `Generation with prefill, 135M shape, 64 + 128 tokens, ${threads} thread(s)`;
  printTable(title, 'tokens', await interleave(contenders, rounds));
}

async function benchPrefix(): Promise<void> {
  const shared = prompt(512, 1);
  let seed = 0;
  const run = async (generator: Generator) => {
    await generate(generator, shared + prompt(64, ++seed), 1);
    return 1;
  };
  const contenders = [
    { name: 'prefix of 512 tokens cached, 64 new', run: () => run(large) },
    { name: 'cold', run: () => run(cold) },
  ];
  printTable('First token', 'requests', await interleave(contenders, rounds));
}

/** Milliseconds between the tokens of four streams, with and without a prompt of 1,800 tokens going in. */
async function benchLongPrompt(): Promise<void> {
  const gaps = async (disturb: boolean): Promise<number[]> => {
    const times: number[] = [];
    let disturbed: Promise<number> | undefined;
    const stream = async (seed: number) => {
      let last = 0;
      const parameters = { max_tokens: 60, ignore_eos: true };
      for await (const _ of cold.generate({ messages: prompt(64, seed), parameters })) {
        const now = performance.now();
        if (last > 0) times.push(now - last);
        last = now;
        if (disturb) disturbed ??= generate(cold, prompt(1800, 9), 1);
      }
    };
    await Promise.all([1, 2, 3, 4].map(stream));
    await disturbed;
    return times.sort((left, right) => left - right);
  };
  console.log(
    '\n### Milliseconds between tokens of 4 streams\n\n| | mean | median | p99 |\n|---|---|---|---|',
  );
  for (const disturb of [false, true]) {
    const times = await gaps(disturb);
    const mean = times.reduce((sum, value) => sum + value, 0) / times.length;
    const at = (share: number) => times[Math.floor(times.length * share)]!.toFixed(0);
    const name = disturb ? 'while a prompt of 1,800 tokens goes in' : 'undisturbed';
    console.log(`| ${name} | ${mean.toFixed(0)} | ${at(0.5)} | ${at(0.99)} |`);
  }
}

async function benchLookup(): Promise<void> {
  const passages =
    '[1] Employees receive 25 days of paid vacation per year. Vacation requests must be sent to the manager two weeks in advance. Unused days expire on March 31.\n[2] The office in Lisbon opens at 8 am and closes at 7 pm. Visitors have to register at the reception desk.\n[3] Zorvex is a message broker written in Rust. It stores its log on disk and replicates it to three nodes.';
  const questions = [
    'How many days of paid vacation do employees receive?',
    'When does the office in Lisbon open?',
    'What is Zorvex?',
    'When do unused days expire?',
  ];
  const run = async (parameters: object): Promise<number> => {
    let tokens = 0;
    for (const question of questions) {
      const content = `### Search results:\n${passages}\n\n### Question: ${question}`;
      const request = { messages: [{ role: 'user' as const, content }], parameters };
      for await (const { usage } of chat.generate(request)) tokens += usage?.completionTokens ?? 0;
    }
    return tokens;
  };
  const contenders = [
    { name: 'prompt lookup, 7 tokens', run: () => run({ num_assistant_tokens: 7 }) },
    { name: 'plain', run: () => run({}) },
  ];
  printTable('Quoted answers of nano-chat, prompts cached', 'tokens', await interleave(contenders, 7));
}

await benchLookup();
await benchPrefix();
await benchLongPrompt();
await benchDecode();
for (const generator of [large, cold, chat]) await generator.close();
