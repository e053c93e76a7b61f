import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startEngineStack, type EngineStack } from './helpers/engine-stack.js';
import { engineModel } from './helpers/scripted-engine.js';

let stack: EngineStack;

beforeAll(async () => {
  stack = await startEngineStack();
});
afterAll(() => stack?.stop());
afterEach(() => {
  stack.engine.script = undefined;
});

/** POSTs JSON, and returns the chunks of HTTP of the answer. */
async function chunksOf(url: string, body: object): Promise<string[]> {
  const headers = { 'content-type': 'application/json' };
  const [response] = (await once(
    request(url, { method: 'POST', headers }).end(JSON.stringify({ ...body, stream: true })),
    'response',
  )) as [IncomingMessage];
  expect(response.statusCode).toBe(200);
  const chunks: string[] = [];
  response.on('data', (data: Buffer) => chunks.push(data.toString()));
  await once(response, 'end');
  return chunks;
}

/** The text as OPEA's orchestrator reads it: `align_generator` parses one event per chunk of HTTP. */
function opeaText(chunks: readonly string[]): string {
  return chunks
    .map((chunk) => {
      const json = chunk.slice(chunk.indexOf('{'), chunk.lastIndexOf('}') + 1);
      if (json === '') return '';
      const { choices } = JSON.parse(json) as { choices: { delta: { content?: string } }[] };
      return choices[0]?.delta.content ?? '';
    })
    .join('');
}

const text = Array.from({ length: 60 }, (_unused, index) => `word${index} `).join('');

describe('a streamed answer', () => {
  it.each([
    ['the LLM service', () => `${stack.llm.url}/v1/chat/completions`, {}],
    ['the gateway', () => `${stack.gateway.url}/v1/chat/completions`, { model: engineModel }],
    ['a mega service', () => `${stack.gateway.url}/v1/chat/completions`, { model: 'chatqna' }],
  ])(
    'of %s has one event per chunk of HTTP, and one event per piece of the engine',
    async (_name, url, more) => {
      stack.engine.script = () => ({ text });
      const chunks = await chunksOf(url(), { ...more, messages: 'go on' });
      for (const chunk of chunks) expect(chunk.match(/\n\n/g)).toHaveLength(1);
      // A space at the end of a piece comes with the next piece, because a removed number takes it with it.
      const pieces = chunks.filter((chunk) => /"content":" ?word/.test(chunk));
      expect(pieces).toHaveLength(60);
      expect(opeaText(chunks)).toBe(text);
    },
  );
});

const delta = (content: unknown, finish_reason: string | null = null) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content }, finish_reason }] })}\n\n`;
const done = 'data: [DONE]\n\n';

/** The answer of a model, whole and streamed. */
async function askBoth(model: string) {
  const ask = { model, messages: 'What does the harbour store?' };
  const response = await stack.post('/v1/chat/completions', ask);
  const chunks = await chunksOf(`${stack.gateway.url}/v1/chat/completions`, ask);
  return { status: response.status, body: (await response.json()) as object, chunks };
}

describe.each([engineModel, 'chatqna'])('an engine that bends the stream, behind %s', (model) => {
  it.each([
    ['has no [DONE]', delta('Hello') + delta('', 'stop'), 'stop'],
    [
      'has a usage of nulls',
      `${delta('Hello')}${delta('', 'stop').replace('}\n\n', ',"usage":{"prompt_tokens":null}}\n\n')}${done}`,
      'stop',
    ],
    ['has content as parts', delta([{ type: 'text', text: 'Hello' }], 'stop') + done, 'stop'],
    [
      'is one JSON body',
      JSON.stringify({ choices: [{ message: { content: 'Hello' }, finish_reason: 'stop' }] }),
      'stop',
    ],
    ['ends with max_tokens', delta('Hello', 'max_tokens') + done, 'length'],
    [
      'has thoughts in the text',
      delta('<think>secret [1]</think>') + delta('\n\nHello', 'stop') + done,
      'stop',
    ],
  ])('is read if it %s', async (_name, raw, finish_reason) => {
    stack.engine.script = () => ({ raw });
    const { status, body, chunks } = await askBoth(model);
    expect(status).toBe(200);
    expect(body).toMatchObject({ choices: [{ message: { content: 'Hello' }, finish_reason }] });
    expect(opeaText(chunks)).toBe('Hello');
    expect(chunks.join('')).toContain(`"finish_reason":"${finish_reason}"`);
  });

  it.each([
    ['sends [DONE] alone', done],
    ['ends with an error', delta('Hel') + delta('', 'error') + done],
  ])('is an error if it %s', async (_name, raw) => {
    stack.engine.script = () => ({ raw });
    const response = await stack.post('/v1/chat/completions', { model, messages: 'Hello?' });
    expect(response.status).toBe(502);
    expect(await response.json()).toMatchObject({ error: { code: 'bad_upstream' } });
  });
});
