import { createOpenAI, type OpenAIProvider } from '@ai-sdk/openai';
import { embedMany, generateText, Output, stepCountIs, streamText, tool, type ModelMessage } from 'ai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { scriptedModel } from '../helpers/scripted-services.js';
import { startScriptedStack, type ScriptedStack } from '../helpers/scripted-stack.js';
import { recordClient } from '../../support/client-matrix.js';

recordClient({ client: 'AI SDK', name: '@ai-sdk/openai' });

let stack: ScriptedStack;
let provider: OpenAIProvider;

beforeAll(async () => {
  stack = await startScriptedStack();
  provider = createOpenAI({ baseURL: `${stack.gateway.url}/v1`, apiKey: 'none' });
});
afterAll(() => stack?.stop());

const tools = {
  add: tool({
    description: 'Adds two numbers.',
    inputSchema: z.object({ a: z.number(), b: z.number() }),
    execute: ({ a, b }) => `sum ${a + b}`,
  }),
};

describe.each([
  ['the Responses API', () => provider.responses(scriptedModel)],
  ['chat completions', () => provider.chat(scriptedModel)],
])('tools of the Vercel AI SDK over %s', (_name, model) => {
  it('are called, and what came of them goes back', async () => {
    const { text, steps } = await generateText({
      model: model(),
      tools,
      stopWhen: stepCountIs(3),
      prompt: 'use add {"a":1,"b":2}\nuse add {"a":3,"b":4}',
    });
    expect(steps[0]?.toolCalls.map(({ input }) => input)).toEqual([
      { a: 1, b: 2 },
      { a: 3, b: 4 },
    ]);
    expect(text).toBe('sum 3 and sum 7');
  });

  it('are called in a stream', async () => {
    const prompt = 'use add {"a":1,"b":2}';
    const stream = streamText({ model: model(), tools, stopWhen: stepCountIs(3), prompt });
    const types = new Set<string>();
    for await (const { type } of stream.fullStream) types.add(type);
    expect([...types]).toEqual(expect.arrayContaining(['tool-input-delta', 'tool-call', 'tool-result']));
    expect(await stream.text).toBe('sum 3');
  });

  it('give objects', async () => {
    const { output } = await generateText({
      model: model(),
      output: Output.object({ schema: z.object({ a: z.number() }) }),
      prompt: '{"a":5}',
    });
    expect(output).toEqual({ a: 5 });
  });
});

describe('the Vercel AI SDK over the Responses API', () => {
  it('shows what the model thinks', async () => {
    const { reasoningText, text } = await generateText({
      model: provider.responses(scriptedModel),
      prompt: 'think about it: done',
    });
    expect(reasoningText).toBe('about it');
    expect(text).toBe('done');
  });

  it('generates text', async () => {
    const { text, usage, finishReason } = await generateText({
      model: provider.responses(scriptedModel),
      prompt: 'count 3',
    });
    expect(text).toBe('1 2 3 ');
    expect(usage.outputTokens).toBe(3);
    expect(finishReason).toBe('stop');
  });

  it('streams text', async () => {
    const stream = streamText({ model: provider.responses(scriptedModel), prompt: 'count 4' });
    const deltas: string[] = [];
    for await (const delta of stream.textStream) deltas.push(delta);
    expect(deltas).toEqual(['1 ', '2 ', '3 ', '4 ']);
    expect((await stream.usage).outputTokens).toBe(4);
  });

  it('sends earlier turns again by reference', async () => {
    const model = provider.responses(scriptedModel);
    const question: ModelMessage = { role: 'user', content: 'count 2' };
    const first = await generateText({ model, messages: [question] });
    const messages: ModelMessage[] = [
      question,
      ...first.response.messages,
      { role: 'user', content: 'recall' },
    ];
    const second = await generateText({ model, messages });
    expect(JSON.parse(second.text)).toEqual(['user: count 2', 'assistant: 1 2 ', 'user: recall']);
    expect(JSON.stringify(second.request.body)).toContain('item_reference');
  });

  it('shows a mega service with its sources', async () => {
    const { text, sources } = await generateText({ model: provider.responses('chatqna'), prompt: 'count 2' });
    expect(text).toBe('1 2 ');
    expect(sources).toMatchObject([{ sourceType: 'document', filename: 'file-1.md' }]);
  });
});

describe('the Vercel AI SDK over chat completions and embeddings', () => {
  it('streams a chat completion', async () => {
    const stream = streamText({ model: provider.chat(scriptedModel), prompt: 'count 4' });
    const deltas: string[] = [];
    for await (const delta of stream.textStream) deltas.push(delta);
    expect(deltas.join('')).toBe('1 2 3 4 ');
  });

  it('embeds', async () => {
    const { embeddings } = await embedMany({
      model: provider.embedding('scripted-embed'),
      values: ['a', 'b'],
    });
    expect(embeddings).toEqual([
      [1, 0],
      [1, 0],
    ]);
  });
});
