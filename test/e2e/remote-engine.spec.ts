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

const png = `data:image/png;base64,${Buffer.from('89504e470d0a1a0a', 'hex').toString('base64')}`;

/** Text, image, text, image in the words of either API. */
function shownParts(text: string, image: string) {
  const shown = { type: image, image_url: image === 'image_url' ? { url: png } : png };
  return [{ type: text, text: 'first:' }, shown, { type: text, text: 'second:' }, shown];
}

const ask = async (path: string, body: object) => {
  const response = await stack.post(path, { model: engineModel, ...body });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
};

describe('an engine behind LLM_ENDPOINT', () => {
  it.each([
    ['/v1/responses', { input: 'hi' }],
    ['/v1/chat/completions', { messages: [{ role: 'user', content: 'hi' }] }],
  ])('is told of no limit, temperature and stream that %s was not asked for', async (path, body) => {
    const { status } = await ask(path, body);
    expect(status).toBe(200);
    expect(stack.engine.asked.at(-1)).toEqual({
      model: engineModel,
      messages: [{ role: 'user', content: 'hi' }],
    });
  });

  it.each([
    ['/v1/responses', { input: [{ role: 'user', content: shownParts('input_text', 'input_image') }] }],
    ['/v1/chat/completions', { messages: [{ role: 'user', content: shownParts('text', 'image_url') }] }],
  ])('is shown texts and images in the order of %s', async (path, body) => {
    const { status } = await ask(path, body);
    expect(status).toBe(200);
    const shown = { type: 'image_url', image_url: expect.objectContaining({ url: png }) as unknown };
    expect(stack.engine.asked.at(-1)?.messages).toEqual([
      {
        role: 'user',
        content: [{ type: 'text', text: 'first:' }, shown, { type: 'text', text: 'second:' }, shown],
      },
    ]);
  });

  it('is shown the images in the outputs of tools, behind all outputs', async () => {
    const output = [
      { type: 'input_text', text: 'Seen.' },
      { type: 'input_image', image_url: png },
    ];
    const { status } = await ask('/v1/responses', {
      input: [
        { role: 'user', content: 'Look.' },
        ...['a', 'b'].map((call_id) => ({ type: 'function_call', call_id, name: 'view', arguments: '{}' })),
        { type: 'function_call_output', call_id: 'a', output },
        { type: 'function_call_output', call_id: 'b', output: 'Nothing.' },
      ],
    });
    expect(status).toBe(200);
    expect(stack.engine.asked.at(-1)?.messages.slice(2)).toEqual([
      { role: 'tool', tool_call_id: 'a', content: 'Seen.\n[image 1 of the tool results]' },
      { role: 'tool', tool_call_id: 'b', content: 'Nothing.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: '[image 1 of the tool results]' },
          { type: 'image_url', image_url: { url: png } },
        ],
      },
    ]);
  });

  it.each([
    ['/v1/responses', { input: 'hi' }, 'input'],
    ['/v1/chat/completions', { messages: [{ role: 'user', content: 'hi' }] }, 'messages'],
  ])('keeps the code of a prompt that is too long for it in %s', async (path, body, param) => {
    const message = "This model's maximum context length is 8192 tokens.";
    const error = {
      message,
      type: 'invalid_request_error',
      param: 'messages',
      code: 'context_length_exceeded',
    };
    stack.engine.script = () => ({ refuse: { status: 400, body: { error } } });
    expect(await ask(path, body)).toEqual({ status: 400, body: { error: { ...error, param } } });
  });

  it('is not said to take a number of tokens that only is a guess', async () => {
    const model = await fetch(`${stack.gateway.url}/v1/models/${engineModel}`);
    expect(await model.json()).not.toHaveProperty('max_model_len');
  });

  it('may take longer than REQUEST_TIMEOUT_MS, as long as it goes on writing', async () => {
    const hasty = await stack.startGateway({ REQUEST_TIMEOUT_MS: '2500' });
    const write = (pauseMs: number) => {
      stack.engine.script = () => ({ text: 'one two three four five six', pauseMs });
      return fetch(`${hasty.url}/v1/responses`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ model: engineModel, input: 'go on' }),
      });
    };
    const steady = await write(600);
    expect(await steady.json()).toMatchObject({
      status: 'completed',
      output_text: expect.stringMatching('six'),
    });
    expect((await write(8_000)).status).toBe(504);
  });

  it('has the names that clients send by default, and others with MODEL_ALIASES', async () => {
    const named = await stack.startGateway({ MODEL_ALIASES: 'my-gpt=chatqna' });
    const post = async (url: string, path: string, body: object) => {
      const headers = { 'content-type': 'application/json' };
      const response = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) });
      return { status: response.status, body: (await response.json()) as Record<string, unknown> };
    };
    const vectors = { input: 'a', model: 'text-embedding-3-small' };
    const words = { input: 'hi', model: 'gpt-4o' };
    const messages = [{ role: 'user', content: 'hi' }];
    const served = (model: string) => ({ status: 200, body: { model } });
    expect(await post(named.url, '/v1/embeddings', vectors)).toMatchObject(served('scripted-embed'));
    expect(await post(named.url, '/v1/responses', words)).toMatchObject(served(engineModel));
    expect(await post(named.url, '/v1/chat/completions', { messages, model: 'gpt-4.1' })).toMatchObject(
      served(engineModel),
    );
    expect(await post(named.url, '/v1/chat/completions', { messages, model: 'my-gpt' })).toMatchObject(
      served('chatqna'),
    );
    const found = await fetch(`${named.url}/v1/models/gpt-4o`);
    expect([found.status, await found.json()]).toMatchObject([
      200,
      { id: 'gpt-4o', root: engineModel, type: 'chat' },
    ]);
    const missing = { status: 404, body: { error: { code: 'model_not_found', param: 'model' } } };
    const { url } = stack.gateway;
    expect(await post(url, '/v1/chat/completions', { messages, model: 'my-gpt' })).toMatchObject(missing);
    expect(await post(url, '/v1/embeddings', { input: 'a', model: 'gpt-4o' })).toMatchObject(missing);
    expect(await post(url, '/v1/responses', { ...words, model: '' })).not.toMatchObject(missing);
  });

  it('is offered the tools of additional_tools items, in this turn and the next', async () => {
    const add = { type: 'function', name: 'add', parameters: { type: 'object', properties: {} } };
    const tools = { type: 'additional_tools', role: 'developer', tools: [add] };
    const first = await ask('/v1/responses', { input: [tools, { role: 'user', content: 'hi' }] });
    expect(first.status).toBe(200);
    expect(stack.engine.asked.at(-1)?.tools).toMatchObject([{ function: { name: 'add' } }]);
    await ask('/v1/responses', { input: 'again', previous_response_id: first.body['id'] });
    expect(stack.engine.asked.at(-1)?.tools).toMatchObject([{ function: { name: 'add' } }]);
  });

  it('ends an answer of 3000 tokens by itself', async () => {
    stack.engine.script = () => ({ text: 'word '.repeat(3000) });
    const { body } = await ask('/v1/responses', { input: 'go on' });
    expect(body).toMatchObject({ status: 'completed', max_output_tokens: null, incomplete_details: null });
  });
});
