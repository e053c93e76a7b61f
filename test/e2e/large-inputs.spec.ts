import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startEngineStack, type EngineStack } from './helpers/engine-stack.js';
import { engineModel } from './helpers/scripted-engine.js';

let stack: EngineStack;

beforeAll(async () => {
  stack = await startEngineStack({ env: { LLM_CONTEXT_LENGTH: '40000' } });
});
afterAll(() => stack?.stop());

/** 20 turns of 100,000 characters: 2 MB, and half a million tokens by an estimate. */
const turns = Array.from({ length: 20 }, (_unused, index) => ({
  role: index % 2 === 0 ? 'user' : 'assistant',
  content: `turn ${index} ${'lorem '.repeat(16_660)}`,
}));
const input = [...turns, { role: 'user', content: 'What now?' }];

describe('inputs of over 1 MiB', () => {
  it('lose their oldest turns with truncation auto', async () => {
    const response = await stack.post('/v1/responses', { model: engineModel, input, truncation: 'auto' });
    expect(response.status).toBe(200);
    const { messages } = stack.engine.asked.at(-1)!;
    expect(messages.length).toBeLessThan(5);
    expect(messages.at(-1)).toEqual({ role: 'user', content: 'What now?' });
    expect(await response.json()).toMatchObject({ status: 'completed', output_text: 'What now?' });
  });

  it('are too long without it, and say so by their tokens', async () => {
    const response = await stack.post('/v1/responses', { model: engineModel, input });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: { code: 'context_length_exceeded', param: 'input' },
    });
  });

  it('go on from a stored response with truncation auto', async () => {
    const options = { model: engineModel, truncation: 'auto' };
    const first = await stack.post('/v1/responses', { ...options, input });
    const { id } = (await first.json()) as { id: string };
    const next = await stack.post('/v1/responses', { ...options, input: 'And?', previous_response_id: id });
    expect(await next.json()).toMatchObject({ status: 'completed', output_text: 'And?' });
  });
});

describe('embeddings of many inputs', () => {
  it('come in the order of 2048 inputs', async () => {
    const texts = Array.from({ length: 2048 }, (_unused, index) => `text ${index}`);
    const response = await stack.post('/v1/embeddings', { input: texts, encoding_format: 'float' });
    expect(response.status).toBe(200);
    const { data } = (await response.json()) as { data: { index: number; embedding: number[] }[] };
    expect(data.map(({ index }) => index)).toEqual(texts.map((_text, index) => index));
    const single = await stack.post('/v1/embeddings', { input: texts[1500], encoding_format: 'float' });
    const [alone] = ((await single.json()) as typeof response & { data: typeof data }).data;
    expect(data[1500]?.embedding).toEqual(alone?.embedding);
  });

  it('are at most 2048', async () => {
    const response = await stack.post('/v1/embeddings', { input: Array.from({ length: 2049 }, () => 'a') });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { type: 'invalid_request_error' } });
  });
});
