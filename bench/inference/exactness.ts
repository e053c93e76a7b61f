/**
 * Generates greedy answers of nano-chat to held-out questions alone, in batches, with a cached prompt and with prompt
 * lookup, and counts the answers with the same tokens as alone. The questions are test data (CONTRIBUTING.md); without
 * them it does not compare.
 */
import { existsSync, readFileSync } from 'node:fs';
import type { ChatMessage, GenerationParameters } from '#platform/contracts';
import { testData } from '#platform/foundation';
import { loadGenerator, type Generator } from '#engine/generation';
import { table } from '../harness/markdown.js';
import type { Subject } from '../harness/subject.js';
import { benchFolder } from './models.js';

const data = testData('data/nano-eval/grounded.jsonl');
const questionCount = 64;

export const subject: Subject = {
  async run({ threads }) {
    const title = '## Exactness';
    if (!existsSync(data)) return `${title}\n\n${data} is absent: nothing was compared.`;
    const [float, int8] = [await compare('float', threads), await compare('int8', threads)];
    const rows = float.map(([name, same], index) => [name, same, int8[index]![1]]);
    const head = [`of ${questionCount} answers the same as alone`, 'float cache', 'int8 cache'];
    return `${title}\n\nGreedy answers of nano-chat to held-out questions, token by token.\n\n${table(head, rows)}`;
  },
};

async function compare(keyValues: 'float' | 'int8', threads: number): Promise<[string, number][]> {
  const options = { cacheDirectory: benchFolder, threads, engine: 'compiled', keyValues } as const;
  const plain = await loadGenerator('nano-chat', { ...options, prefixCacheBytes: 0 });
  const caching = await loadGenerator('nano-chat', options);
  const questions = readQuestions();
  const alone = await inBatches(plain, questions, 1, {});
  const lookup = { num_assistant_tokens: 7 };
  const variants: [string, () => Promise<string[]>][] = [
    ['batches of 2', () => inBatches(plain, questions, 2, {})],
    ['batches of 5', () => inBatches(plain, questions, 5, {})],
    ['batches of 16', () => inBatches(plain, questions, 16, {})],
    ['filling the prefix cache', () => inBatches(caching, questions, 4, {})],
    ['from the prefix cache', () => inBatches(caching, questions, 4, {})],
    ['prompt lookup, alone', () => inBatches(plain, questions, 1, lookup)],
    ['prompt lookup, batches of 16, prefix cache', () => inBatches(caching, questions, 16, lookup)],
  ];
  const results: [string, number][] = [];
  for (const [name, run] of variants) {
    const answers = await run();
    results.push([name, answers.filter((answer, index) => answer === alone[index]).length]);
  }
  await plain.close();
  await caching.close();
  return results;
}

function readQuestions(): ChatMessage[][] {
  const lines = readFileSync(data, 'utf8').trim().split('\n').slice(0, questionCount);
  return lines.map((line) => {
    const { messages } = JSON.parse(line) as { messages: ChatMessage[] };
    return messages.filter(({ role }, index) => role !== 'assistant' || index < messages.length - 1);
  });
}

/** Token ids of the answers, as text. */
async function inBatches(
  generator: Generator,
  questions: readonly ChatMessage[][],
  size: number,
  parameters: GenerationParameters,
): Promise<string[]> {
  const answers: string[] = [];
  for (let start = 0; start < questions.length; start += size) {
    const batch = questions.slice(start, start + size);
    answers.push(...(await Promise.all(batch.map((messages) => answer(generator, messages, parameters)))));
  }
  return answers;
}

async function answer(
  generator: Generator,
  messages: readonly ChatMessage[],
  parameters: GenerationParameters,
): Promise<string> {
  const tokens: number[] = [];
  const request = { messages, parameters: { max_tokens: 100, ...parameters } };
  for await (const { tokenIds } of generator.generate(request)) tokens.push(...tokenIds);
  return tokens.join();
}
