/**
 * Measures constraints: the speed of constrained answers compared with plain decoding in the same run; and, with a
 * vocabulary of 150,000 tokens, the time from a new constraint to the first token, and its effect on a concurrent
 * answer.
 */
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { OutputConstraint } from '#platform/contracts';
import { loadGenerator, type Generator } from '#engine/generation';
import { table } from '../harness/markdown.js';
import { quantile } from '../harness/interleave.js';
import type { Subject } from '../harness/subject.js';
import { benchFolder, bundledModel } from './models.js';
import { makeRandomDecoder, shape135m } from './random-decoder.js';

const vocabularySize = 150_000;
const shape = {
  ...shape135m,
  hidden_size: 64,
  num_hidden_layers: 1,
  num_attention_heads: 1,
  num_key_value_heads: 1,
  intermediate_size: 64,
  vocab_size: vocabularySize,
};

/**
 * A minimal model with the vocabulary size of large models; its tokenizer is nano-chat's with invented words added.
 */
async function makeModel(): Promise<string> {
  const folder = await makeRandomDecoder(path.join(benchFolder, 'random-150k-tokens'), shape);
  const source = bundledModel('nano-chat');
  if (existsSync(path.join(folder, 'tokenizer_config.json'))) return folder;
  await mkdir(folder, { recursive: true });
  const tokenizer = JSON.parse(await readFile(path.join(source, 'tokenizer.json'), 'utf8')) as {
    model: { vocab: Record<string, number> };
  };
  const { vocab } = tokenizer.model;
  const known = Object.keys(vocab).filter((piece) => piece.length > 1);
  for (let id = Object.keys(vocab).length, pair = 0; id < vocabularySize; pair++) {
    const turn = Math.floor(pair / known.length);
    const [left, right] = [known[pair % known.length]!, known[(pair + 97 * turn + 13) % known.length]!];
    if (left + right in vocab) continue;
    vocab[left + right] = id++;
  }
  await writeFile(path.join(folder, 'tokenizer.json'), JSON.stringify(tokenizer));
  await writeFile(
    path.join(folder, 'tokenizer_config.json'),
    await readFile(path.join(source, 'tokenizer_config.json')),
  );
  return folder;
}

/** Returns constraints of growing size; each number gives constraints that were not compiled before. */
const constraints: Readonly<Record<string, (seed: number) => OutputConstraint>> = {
  'a choice of three': (seed) => ({ type: 'choice', choices: [`yes ${seed}`, `no ${seed}`, 'perhaps'] }),
  'an expression': (seed) => ({ type: 'regex', pattern: `[A-Z]{2}-\\d{4}-${seed}[a-z]*` }),
  'a schema of 5 fields': (seed) => schemaOf(5, seed),
  'a schema of 40 fields': (seed) => schemaOf(40, seed),
};

function schemaOf(fields: number, seed: number): OutputConstraint {
  const types = [
    { type: 'string' },
    { type: 'integer' },
    { type: 'boolean' },
    { enum: ['a', 'b', 'c'] },
    { type: 'array', items: { type: 'number' } },
  ];
  const names = Array.from({ length: fields }, (_unused, index) => `field_${seed}_${index}`);
  const properties = Object.fromEntries(names.map((name, index) => [name, types[index % types.length]]));
  return {
    type: 'json_schema',
    schema: { type: 'object', properties, required: names, additionalProperties: false },
  };
}

async function firstTokenMs(generator: Generator, constraint?: OutputConstraint): Promise<number> {
  const startedAt = performance.now();
  const parameters = { max_tokens: 1, constraint, temperature: 0 };
  await generator.generate({ messages: 'A', parameters }).next();
  return performance.now() - startedAt;
}

/** Returns the longest gap between two tokens of a running answer during `work`. */
async function longestGapDuring(generator: Generator, work: () => Promise<unknown>): Promise<number> {
  const leaving = new AbortController();
  let [last, longest] = [0, 0];
  let begin = () => {};
  const begun = new Promise<void>((resolve) => (begin = resolve));
  const stream = (async () => {
    const parameters = { ignore_eos: true, temperature: 0 };
    for await (const { choice } of generator.generate({ messages: 'B', parameters }, leaving.signal)) {
      if (choice === 0) begin();
      const now = performance.now();
      if (last > 0) longest = Math.max(longest, now - last);
      last = now;
    }
  })().catch(() => undefined);
  await begun;
  await work();
  leaving.abort();
  await stream;
  return longest;
}

const answerTokens = 200;
/** Each constraint allows answers longer than {@link answerTokens}: with a short answer the start would dominate. */
const decoded: Readonly<Record<string, OutputConstraint | undefined>> = {
  plain: undefined,
  'a schema with a string': {
    type: 'json_schema',
    schema: {
      type: 'object',
      properties: { story: { type: 'string', minLength: 2000 } },
      required: ['story'],
    },
  },
  'a schema with a list of objects': {
    type: 'json_schema',
    schema: {
      type: 'array',
      minItems: 100,
      items: {
        type: 'object',
        properties: { name: { type: 'string', maxLength: 30 }, age: { type: 'integer' } },
        required: ['name', 'age'],
      },
    },
  },
  'a list of any JSON': { type: 'json_schema', schema: { type: 'array', minItems: 200 } },
};

/** Returns the speed of one answer after its first token. */
interface Speed {
  readonly tokensPerSecond: number;
  /** Processor time of the whole process, which depends less on the load of the machine than wall-clock time. */
  readonly cpuMsPerToken: number;
}

async function decode(generator: Generator, constraint: OutputConstraint | undefined): Promise<Speed> {
  const messages = [
    { role: 'user' as const, content: 'Tell me a long story about people, with their names and ages.' },
  ];
  const parameters = {
    max_tokens: answerTokens,
    ignore_eos: true,
    temperature: 0,
    num_assistant_tokens: 0,
    constraint,
  };
  let [tokens, first, startedAt] = [0, 0, 0];
  let cpu = process.cpuUsage();
  for await (const { tokenIds } of generator.generate({ messages, parameters })) {
    tokens += tokenIds.length;
    if (startedAt > 0) continue;
    [first, startedAt, cpu] = [tokens, performance.now(), process.cpuUsage()];
  }
  if (tokens < answerTokens) throw new Error(`The answer has ${tokens} tokens instead of ${answerTokens}.`);
  const { user, system } = process.cpuUsage(cpu);
  return {
    tokensPerSecond: ((tokens - first) * 1000) / (performance.now() - startedAt),
    cpuMsPerToken: (user + system) / 1000 / (tokens - first),
  };
}

async function decodingTable(threads: number, rounds: number): Promise<string> {
  const options = { cacheDirectory: benchFolder, threads, engine: 'compiled' as const };
  const generator = await loadGenerator(bundledModel('nano-chat'), options);
  const speeds = new Map(Object.keys(decoded).map((name) => [name, [] as Speed[]]));
  for (const constraint of Object.values(decoded)) await decode(generator, constraint);
  for (let round = 0; round < rounds; round++)
    for (const [name, constraint] of Object.entries(decoded))
      speeds.get(name)!.push(await decode(generator, constraint));
  await generator.close();
  const plain = speeds.get('plain')!;
  const median = (values: number[]) => quantile(values, 0.5);
  const rows = [...speeds].map(([name, measured]) => [
    name,
    median(measured.map(({ tokensPerSecond }) => tokensPerSecond)).toFixed(0),
    median(
      measured.map(({ tokensPerSecond }, round) => tokensPerSecond / plain[round]!.tokensPerSecond),
    ).toFixed(2),
    median(measured.map(({ cpuMsPerToken }) => cpuMsPerToken)).toFixed(2),
    median(measured.map(({ cpuMsPerToken }, round) => plain[round]!.cpuMsPerToken / cpuMsPerToken)).toFixed(
      2,
    ),
  ]);
  return table(
    [
      'nano-chat',
      'tokens a second',
      'share of plain',
      'processor ms a token',
      'share of plain by processor time',
    ],
    rows,
  );
}

export const subject: Subject = {
  async run({ threads, rounds }) {
    const folder = await makeModel();
    const generator = await loadGenerator(folder, {
      cacheDirectory: benchFolder,
      threads,
      engine: 'compiled',
    });
    const plain = await firstTokenMs(generator);
    const first = await firstTokenMs(generator, { type: 'choice', choices: ['a'] });
    const rows: string[][] = [];
    let seed = 0;
    for (const [name, make] of Object.entries(constraints)) {
      const times: { cold: number[]; known: number[]; gap: number[] } = { cold: [], known: [], gap: [] };
      for (let round = 0; round < rounds; round++) {
        const constraint = make(seed++);
        times.cold.push(await firstTokenMs(generator, constraint));
        times.known.push(await firstTokenMs(generator, constraint));
        times.gap.push(await longestGapDuring(generator, () => firstTokenMs(generator, make(seed++))));
      }
      rows.push([
        name,
        ...[times.cold, times.known, times.gap].map((values) => quantile(values, 0.5).toFixed(0)),
      ]);
    }
    const quiet = await longestGapDuring(generator, () => firstTokenMs(generator));
    await generator.close();
    return [
      '## Constraints',
      `Answers of ${answerTokens} tokens, plain and constrained in turns, greedy, without guesses; the median of ${rounds} rounds:`,
      await decodingTable(threads, rounds),
      `A vocabulary of ${vocabularySize} tokens under one small layer, ${threads} thread(s). First token without a constraint: ${plain.toFixed(0)} ms; with the very first one: ${first.toFixed(0)} ms; longest gap between tokens with nothing compiled: ${quiet.toFixed(0)} ms.`,
      table(
        [
          'milliseconds',
          'first token, new constraint',
          'the same again',
          'longest gap of an answer beside a new one',
        ],
        rows,
      ),
    ].join('\n\n');
  },
};
