import { MegaNestError, type GenerationChunk } from '#contracts';
import { expect, test } from 'vitest';
import { measureGeneration } from './measure-generation.js';

type Chunk = Partial<GenerationChunk>;

/** Records what is entered, in order. */
function recorder() {
  const entries: string[] = [];
  const metrics = {
    start: (operation: string) => ({
      firstToken: () => void entries.push(`${operation} first token`),
      end: (outcome: string) => void entries.push(`${operation} ${outcome}`),
    }),
    countTokens: (kind: string, count: number) => void entries.push(`${count} ${kind}`),
  };
  return { entries, metrics };
}

async function* chunksOf(chunks: Chunk[], error?: Error): AsyncGenerator<GenerationChunk> {
  for (const chunk of chunks) yield { text: '', ...chunk } as GenerationChunk;
  if (error) throw error;
}

const usage = { promptTokens: 3, completionTokens: 2, cachedTokens: 0 };

test('a tool call alone is a first token; usage is counted where it is asked for', async () => {
  const { entries, metrics } = recorder();
  const chunks = chunksOf([{}, { toolCalls: [] }, { text: 'late' }, { usage }]);
  for await (const chunk of measureGeneration(metrics, 'llm', chunks, { countUsage: true }))
    entries.push(`chunk "${chunk.text}"`);
  expect(entries).toEqual([
    'chunk ""',
    'llm first token',
    'chunk ""',
    'chunk "late"',
    '3 prompt',
    '2 completion',
    'chunk ""',
    'llm ok',
  ]);
});

test.each([
  ['error', new Error('broken')],
  ['cancelled', new MegaNestError('cancelled')],
])('ends with the outcome %s', async (outcome, error) => {
  const { entries, metrics } = recorder();
  const read = measureGeneration(metrics, 'llm', chunksOf([{ usage }], error));
  await read.next();
  await expect(read.next()).rejects.toBe(error);
  expect(entries).toEqual([`llm ${outcome}`]);
});

test('a consumer that leaves has cancelled it', async () => {
  const { entries, metrics } = recorder();
  const read = measureGeneration(metrics, 'llm', chunksOf([{ text: 'a' }, { text: 'b' }]));
  await read.next();
  await read.return();
  expect(entries).toEqual(['llm first token', 'llm cancelled']);
});
