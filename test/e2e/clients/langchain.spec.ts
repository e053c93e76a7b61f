import { ChatOpenAI, OpenAIEmbeddings, type ChatOpenAIFields } from '@langchain/openai';
import { tool } from '@langchain/core/tools';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { scriptedModel } from '../helpers/scripted-services.js';
import { startScriptedStack, type ScriptedStack } from '../helpers/scripted-stack.js';
import { recordClient } from '../../support/client-matrix.js';

recordClient({ client: 'LangChain', name: '@langchain/openai' });

let stack: ScriptedStack;

beforeAll(async () => {
  stack = await startScriptedStack();
});
afterAll(() => stack?.stop());

const configuration = () => ({ baseURL: `${stack.gateway.url}/v1` });
const chat = (fields: ChatOpenAIFields = {}) =>
  new ChatOpenAI({
    model: scriptedModel,
    apiKey: 'none',
    maxRetries: 0,
    configuration: configuration(),
    ...fields,
  });

const add = tool(({ a, b }: { a: number; b: number }) => `sum ${a + b}`, {
  name: 'add',
  description: 'Adds two numbers.',
  schema: z.object({ a: z.number(), b: z.number() }),
});

describe.each([
  ['Responses API', true],
  ['chat completions', false],
])('LangChain over the %s', (_name, useResponsesApi) => {
  it('invokes and counts tokens', async () => {
    const message = await chat({ useResponsesApi }).invoke('count 3');
    expect(message.text).toBe('1 2 3 ');
    expect(message.usage_metadata?.output_tokens).toBe(3);
  });

  it('calls tools', async () => {
    const model = chat({ useResponsesApi }).bindTools([add]);
    const question = { role: 'user', content: 'use add {"a":1,"b":2}' };
    const call = await model.invoke([question]);
    expect(call.tool_calls).toMatchObject([{ name: 'add', args: { a: 1, b: 2 } }]);
    const [toolCall] = call.tool_calls ?? [];
    const result = toolCall && (await add.invoke({ ...toolCall, type: 'tool_call' }));
    const answer = await model.invoke([question, call, ...(result ? [result] : [])]);
    expect(answer.text).toBe('sum 3');
  });

  it('gives objects', async () => {
    const model = chat({ useResponsesApi }).withStructuredOutput(z.object({ a: z.number() }));
    expect(await model.invoke('{"a":5}')).toEqual({ a: 5 });
  });

  it('streams', async () => {
    const deltas: string[] = [];
    for await (const chunk of await chat({ useResponsesApi }).stream('count 3')) {
      if (chunk.text) deltas.push(chunk.text);
    }
    expect(deltas).toEqual(['1 ', '2 ', '3 ']);
  });

  it('sends earlier turns again', async () => {
    const model = chat({ useResponsesApi });
    const first = await model.invoke([['user', 'count 2']]);
    const second = await model.invoke([['user', 'count 2'], first, ['user', 'recall']]);
    expect(JSON.parse(second.text)).toEqual(['user: count 2', 'assistant: 1 2 ', 'user: recall']);
  });
});

describe('LangChain', () => {
  it('continues a stored response', async () => {
    const model = chat({ useResponsesApi: true });
    const first = await model.invoke('count 2');
    const id = first.response_metadata['id'] as string;
    const second = await model.invoke('recall', { previous_response_id: id });
    expect(JSON.parse(second.text)).toEqual(['user: count 2', 'assistant: 1 2 ', 'user: recall']);
  });

  it('embeds', async () => {
    const embeddings = new OpenAIEmbeddings({
      model: 'scripted-embed',
      apiKey: 'none',
      configuration: configuration(),
    });
    expect(await embeddings.embedQuery('a')).toEqual([1, 0]);
  });
});
