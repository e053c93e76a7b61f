import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startEngineStack, type EngineStack } from './helpers/engine-stack.js';
import { engineModel } from './helpers/scripted-engine.js';

let stack: EngineStack;

beforeAll(async () => {
  stack = await startEngineStack({ env: { LLM_MODALITIES: 'text,image' } });
});
afterAll(() => stack?.stop());
afterEach(() => {
  stack.engine.script = undefined;
});

const ask = async (path: string, body: object) => {
  const response = await stack.post(path, { model: engineModel, ...body });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
};

describe('an engine behind LLM_ENDPOINT', () => {
  it.each([
    ['/v1/responses', { input: 'hi' }],
    ['/v1/chat/completions', { messages: [{ role: 'user', content: 'hi' }] }],
  ])('is told of no limit and no temperature that %s was not asked for', async (path, body) => {
    const { status } = await ask(path, body);
    expect(status).toBe(200);
    expect(stack.engine.asked.at(-1)).toEqual({
      model: engineModel,
      messages: [{ role: 'user', content: 'hi' }],
      stream: true,
      stream_options: { include_usage: true },
    });
  });

  it('ends an answer of 3000 tokens by itself', async () => {
    stack.engine.script = () => ({ text: 'word '.repeat(3000) });
    const { body } = await ask('/v1/responses', { input: 'go on' });
    expect(body).toMatchObject({ status: 'completed', max_output_tokens: null, incomplete_details: null });
  });
});
