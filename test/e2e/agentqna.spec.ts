import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startEngineStack, type EngineStack } from './helpers/engine-stack.js';
import type { EngineBody } from './helpers/scripted-engine.js';

let stack: EngineStack;

beforeAll(async () => {
  stack = await startEngineStack({ model: { max_model_len: 4096, owned_by: 'vllm' } });
});
afterAll(() => stack?.stop());
afterEach(() => {
  stack.engine.script = undefined;
  stack.engine.asked.length = 0;
});

const toolTurns = ({ messages }: EngineBody) => messages.filter(({ role }) => role === 'tool');

/** Searches once more, then answers from the passages of both searches. */
function searchAgain(body: EngineBody) {
  if (toolTurns(body).length < 2)
    return { calls: [{ name: 'search', arguments: '{"query":"the engineer"}' }] };
  return { text: 'Passage 1 says 1. [1] Passage 2 says 2. [4]' };
}

describe('agentqna', () => {
  it('goes on searching with a model that calls tools, and cites what it found', async () => {
    stack.engine.script = searchAgain;
    const response = await stack.post('/v1/agentqna', { messages: 'Who built the bridge?', stream: false });
    const completion = (await response.json()) as {
      choices: { message: { content: string; annotations: object[] }; finish_reason: string }[];
    };
    expect(completion.choices[0]).toMatchObject({ finish_reason: 'stop' });
    expect(completion.choices[0]?.message.content).toContain('Passage 2 says 2.');
    expect(completion.choices[0]?.message.annotations).toHaveLength(2);
    const [first, second] = stack.engine.asked;
    // The passages of the mega service are the result of a first search.
    expect(first?.messages.map(({ role }) => role).slice(-3)).toEqual(['user', 'assistant', 'tool']);
    expect(first?.tools?.map((tool) => tool.function.name)).toEqual(['search', 'find', 'open']);
    expect(JSON.stringify(toolTurns(second!)[1])).toContain('[3]');
    expect(stack.witness.searched.at(-1)).toBe('the engineer');
  });

  it('ends in an answer after max_tool_calls', async () => {
    stack.engine.script = (body) =>
      body.tools ? { calls: [{ name: 'search', arguments: '{"query":"more"}' }] } : { text: 'It ends.' };
    const response = await stack.post('/v1/agentqna', { messages: 'Who?', max_tool_calls: 2 });
    expect(await response.text()).toContain('ends.');
    expect(stack.engine.asked).toHaveLength(3);
  });

  it('continues a thread, which is a conversation', async () => {
    const ask = (body: object) => stack.post('/v1/agentqna', { stream: false, ...body });
    stack.engine.script = () => ({ text: 'Ada Quill built it.' });
    for (const messages of ['Who built the bridge?', 'And the tower?'])
      expect((await ask({ messages, thread_id: 'mine' })).status).toBe(200);
    const texts = stack.engine.asked.at(-1)?.messages.map(({ content }) => content);
    expect(texts).toContain('Ada Quill built it.');
    expect(texts).toContain('Who built the bridge?');
    const list = await fetch(`${stack.gateway.url}/v1/conversations`);
    const { data } = (await list.json()) as { data: { id: string; metadata: object }[] };
    expect(data).toMatchObject([{ metadata: { thread_id: 'mine' } }]);
    const items = await fetch(`${stack.gateway.url}/v1/conversations/${data[0]?.id}/items`);
    expect(((await items.json()) as { data: object[] }).data).toHaveLength(4);
    expect((await ask({ messages: 'And then?', thread_id: data[0]?.id })).status).toBe(200);
    expect((await ask({ messages: 'Who?', thread_id: 'conv_unknown' })).status).toBe(400);
  });
});
