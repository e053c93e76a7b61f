import { afterEach, describe, expect, it } from 'vitest';
import { sendJson, startEngine, type Answer, type TestEngine } from './engine.fixture.js';
import { openRemoteGenerator } from './remote-generator.js';

describe('the model of an engine without LLM_MODEL_ID', () => {
  let engine: TestEngine | undefined;
  afterEach(() => engine?.close());

  async function open(data: object[], more: Record<string, Answer> = {}, model?: string) {
    engine = await startEngine({ '/v1/models': (response) => sendJson(response, { data }), ...more });
    return (await openRemoteGenerator({ endpoint: engine.url, ...(model && { model }) })).info.id;
  }

  it.each<[string, object[], string]>([
    ['the only one', [{ id: 'my-model' }], 'my-model'],
    ['the first one', [{ id: 'b' }, { id: 'a' }], 'b'],
    [
      'not one for vectors by its name',
      [{ id: 'nomic-embed-text:latest' }, { id: 'llama3.2:3b' }],
      'llama3.2:3b',
    ],
    ['not BGE', [{ id: 'BAAI/bge-m3' }, { id: 'bge-large:335m' }, { id: 'qwen3' }], 'qwen3'],
    [
      'not a reranker or speech',
      [{ id: 'Qwen3-Reranker-4B' }, { id: 'whisper-1' }, { id: 'tts-1' }, { id: 'x' }],
      'x',
    ],
    [
      'by the type of LM Studio',
      [
        { id: 'gemma', type: 'embeddings' },
        { id: 'y', type: 'llm' },
      ],
      'y',
    ],
    [
      'by the type of Together',
      [
        { id: 'one', type: 'rerank' },
        { id: 'two', type: 'chat' },
      ],
      'two',
    ],
    [
      'by the flags of Mistral',
      [
        { id: 'one', capabilities: { completion_chat: false } },
        { id: 'z', capabilities: { completion_chat: true } },
      ],
      'z',
    ],
    ['by a list of capabilities', [{ id: 'one', capabilities: ['embedding'] }, { id: 'z' }], 'z'],
    ['what the list says, before the name', [{ id: 'embed-chat', type: 'llm' }, { id: 'z' }], 'embed-chat'],
  ])('is %s', async (_name, data, id) => {
    expect(await open(data)).toBe(id);
  });

  it('is one that chats, by the description of Ollama', async () => {
    const capabilities: Record<string, string[]> = { mystery: ['embedding'], sage: ['completion', 'tools'] };
    const show: Answer = (response, { body }) =>
      sendJson(response, { capabilities: capabilities[body['model'] as string] });
    expect(await open([{ id: 'mystery' }, { id: 'sage' }], { '/api/show': show })).toBe('sage');
  });

  it('must be named if none is known to chat', async () => {
    const data = [{ id: 'bge-m3' }, { id: 'nomic-embed-text' }];
    await expect(open(data)).rejects.toMatchObject({
      code: 'model_not_found',
      message: expect.stringMatching(/bge-m3, nomic-embed-text\. .*LLM_MODEL_ID/) as string,
    });
    await engine?.close();
    expect(await open(data, {}, 'bge-m3')).toBe('bge-m3');
  });
});
