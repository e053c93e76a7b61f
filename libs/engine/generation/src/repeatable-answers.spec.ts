import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { GenerationParameters } from '#platform/contracts';
import { projectRoot } from '#platform/foundation';
import { loadGenerator } from './generator.js';
import type { Generator } from './generator-interface.js';

const prompts = [
  'What is a message broker?',
  'Write a story about a ship.',
  'When does the office in Lisbon open?',
  'Name three colors.',
  'How long does tea have to steep?',
  'Explain rain to a child.',
  'What happens when a service dies?',
  'List the planets.',
];

describe('greedy answers of nano-chat, far beyond their first sentence', () => {
  let cacheDirectory: string;
  let generator: Generator;
  let alone: string[];
  beforeAll(async () => {
    cacheDirectory = await mkdtemp(path.join(tmpdir(), 'repeatable-'));
    const folder = path.join(projectRoot, 'models', 'nano-chat');
    generator = await loadGenerator(folder, { cacheDirectory, threads: 2, engine: 'compiled' });
    alone = await inBatches(1);
  });
  afterAll(async () => {
    await generator?.close();
    await rm(cacheDirectory, { recursive: true });
  });

  async function answer(content: string, parameters: GenerationParameters = {}): Promise<string> {
    const tokens: number[] = [];
    const messages = [{ role: 'user' as const, content }];
    const limits = { temperature: 0, max_tokens: 96, ignore_eos: true, ...parameters };
    for await (const { tokenIds } of generator.generate({ messages, parameters: limits }))
      tokens.push(...tokenIds);
    return tokens.join();
  }

  async function inBatches(size: number, parameters: GenerationParameters = {}): Promise<string[]> {
    const answers: string[] = [];
    for (let start = 0; start < prompts.length; start += size)
      answers.push(
        ...(await Promise.all(prompts.slice(start, start + size).map((each) => answer(each, parameters)))),
      );
    return answers;
  }

  it.each([1, 2, 3, 5, 8])('are the same in batches of %d', async (size) => {
    expect(await inBatches(size)).toEqual(alone);
  });

  const schema = {
    type: 'object',
    properties: {
      description_of_the_subject: { type: 'string', maxLength: 40 },
      number_of_its_parts: { type: 'integer' },
      kind: { enum: ['an event', 'a thing', 'a person', 'a place'] },
      further_names: { type: 'array', items: { type: 'string', maxLength: 20 }, maxItems: 3 },
    },
    required: ['description_of_the_subject', 'number_of_its_parts', 'kind', 'further_names'],
    additionalProperties: false,
  };

  it.each<[string, GenerationParameters]>([
    ['with a JSON schema', { constraint: { type: 'json_schema', schema }, ignore_eos: false }],
    [
      'with a JSON schema and a seed',
      { constraint: { type: 'json_schema', schema }, ignore_eos: false, temperature: 1, seed: 3 },
    ],
    ['with guessed tokens', { num_assistant_tokens: 5 }],
  ])('are the same in batches, also %s', async (_form, parameters) => {
    const oneByOne = await inBatches(1, parameters);
    expect(await inBatches(3, parameters)).toEqual(oneByOne);
    expect(await inBatches(8, parameters)).toEqual(oneByOne);
  });
});
