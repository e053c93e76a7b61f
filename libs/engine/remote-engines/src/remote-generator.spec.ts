import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import type { GenerationEvent } from '#engine/generation';
import { sendJson, startEngine, type Answer, type TestEngine } from './engine.fixture.js';
import { openRemoteGenerator } from './remote-generator.js';

const messages = [{ role: 'user' as const, content: 'Hello?' }];
const models: Answer = (response) =>
  sendJson(response, { data: [{ id: 'first', created: 5, max_model_len: 4096 }, { id: 'second' }] });

const frame = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;
const delta = (content: string, index = 0, finish_reason: string | null = null) =>
  frame({ choices: [{ index, delta: { content }, finish_reason }] });
const usage = frame({
  choices: [],
  usage: { prompt_tokens: 7, completion_tokens: 3, prompt_tokens_details: { cached_tokens: 2 } },
});
const done = 'data: [DONE]\n\n';

const stream =
  (...frames: string[]): Answer =>
  (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const text of frames) response.write(text);
    response.end();
  };

describe('openRemoteGenerator', () => {
  let engine: TestEngine | undefined;
  afterEach(async () => {
    await engine?.close();
  });

  async function open(chat: Answer, more: Record<string, Answer> = {}, options = {}) {
    engine = await startEngine({ '/v1/models': models, '/v1/chat/completions': chat, ...more });
    return openRemoteGenerator({ endpoint: engine.url, ...options });
  }

  async function collect(chat: Answer, parameters = {}) {
    const generator = await open(chat);
    const events: GenerationEvent[] = [];
    for await (const event of generator.generate({ messages, parameters })) events.push(event);
    return events;
  }

  it('streams what the engine streams; the usage is on the last event', async () => {
    const events = await collect(stream(delta(''), delta('Hel'), delta('lo', 0, 'stop'), usage, done));
    expect(events).toEqual([
      { choice: 0, text: 'Hel', tokenIds: [] },
      {
        choice: 0,
        text: 'lo',
        tokenIds: [],
        finishReason: 'stop',
        usage: { promptTokens: 7, completionTokens: 3, cachedTokens: 2 },
      },
    ]);
    expect(engine?.requests.at(-1)?.body).toEqual({
      messages,
      model: 'first',
      stream: true,
      stream_options: { include_usage: true },
    });
  });

  it('reads frames however the network cuts them', async () => {
    const text = delta('Grüße', 0, 'length') + usage + done;
    const pieces = [...Buffer.from(text)].map((byte) => Buffer.from([byte]));
    const events = await collect(async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const piece of pieces) if (!response.write(piece)) await once(response, 'drain');
      response.end();
    });
    expect(events).toMatchObject([{ text: 'Grüße', finishReason: 'length', usage: { promptTokens: 7 } }]);
  });

  it('follows several answers', async () => {
    const frames = [delta('a', 0), delta('b', 1, 'stop'), delta('c', 0, 'length'), usage, done];
    const events = await collect(stream(...frames), { n: 2 });
    expect(events.map(({ choice, text, finishReason }) => [choice, text, finishReason])).toEqual([
      [0, 'a', undefined],
      [1, 'b', 'stop'],
      [0, 'c', 'length'],
    ]);
    expect(events.filter((event) => event.usage)).toHaveLength(1);
  });

  it('tells a refusal from an answer', async () => {
    const refusal = frame({ choices: [{ index: 0, delta: { content: null, refusal: 'No.' } }] });
    const events = await collect(stream(refusal, delta('', 0, 'content_filter'), usage, done));
    expect(events).toMatchObject([
      { text: 'No.', refusal: true },
      { text: '', finishReason: 'content_filter' },
    ]);
  });

  it('counts pieces where the engine tells no usage, and ends what it left open', async () => {
    const events = await collect(stream(delta('a'), delta('b'), done));
    expect(events.at(-1)).toEqual({
      choice: 0,
      text: '',
      tokenIds: [],
      finishReason: 'stop',
      usage: { promptTokens: 2, completionTokens: 2, cachedTokens: 0 },
    });
  });

  it('names the limit of an answer as OpenAI does, for OpenAI', async () => {
    const chat = stream(delta('a', 0, 'stop'), done);
    const owned: Answer = (response) => sendJson(response, { data: [{ id: 'gpt', owned_by: 'openai' }] });
    const generator = await open(chat, { '/v1/models': owned });
    for await (const { text } of generator.generate({ messages, parameters: { max_tokens: 9 } }))
      expect(text).toBe('a');
    const body = engine?.requests.find(({ path }) => path === '/v1/chat/completions')?.body;
    expect(body?.['max_completion_tokens']).toBe(9);
    expect(body).not.toHaveProperty('max_tokens');
  });

  it('passes parameters, key and logprobs', async () => {
    const logprobs = { content: [{ token: 'a', logprob: -1, top_logprobs: [] }] };
    const chat = stream(
      frame({ choices: [{ index: 0, delta: { content: 'a' }, logprobs, finish_reason: 'stop' }] }),
      done,
    );
    const generator = await open(chat, {}, { apiKey: 'secret', model: 'second' });
    const events: GenerationEvent[] = [];
    const request = {
      messages,
      parameters: { top_k: 5, seed: 0 },
      chatTemplateKwargs: { enable_thinking: false },
      labels: { user: 'u', prompt_cache_key: 'k' },
    };
    for await (const event of generator.generate(request)) events.push(event);
    expect(events[0]?.logprobs).toEqual([{ token: 'a', logprob: -1, bytes: null, top_logprobs: [] }]);
    const sent = engine?.requests.find(({ path }) => path === '/v1/chat/completions');
    expect(sent?.headers.authorization).toBe('Bearer secret');
    expect(sent?.body).toMatchObject({
      model: 'second',
      top_k: 5,
      seed: 0,
      chat_template_kwargs: { enable_thinking: false },
      user: 'u',
      prompt_cache_key: 'k',
    });
  });

  it('shows images to a model that takes them', async () => {
    const generator = await open(
      stream(delta('A cat.', 0, 'stop'), done),
      {},
      { modalities: ['text', 'image'] },
    );
    expect(generator.info.modalities).toEqual(['text', 'image']);
    const url = 'data:image/png;base64,AA==';
    const asked = [{ role: 'user' as const, content: 'What?', images: [{ url, detail: 'low' }] }];
    for await (const { text } of generator.generate({ messages: asked, parameters: {} }))
      expect(text).toBe('A cat.');
    expect(engine?.requests.find(({ path }) => path === '/v1/chat/completions')?.body['messages']).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What?' },
          { type: 'image_url', image_url: { url, detail: 'low' } },
        ],
      },
    ]);
  });

  it('continues a rendered prompt through plain completions', async () => {
    const completions = stream(
      frame({ choices: [{ index: 0, text: 'x', finish_reason: 'stop' }] }),
      usage,
      done,
    );
    const generator = await open(stream(), { '/v1/completions': completions });
    const events: GenerationEvent[] = [];
    for await (const event of generator.generate({ messages: 'Once', parameters: {} })) events.push(event);
    expect(events).toMatchObject([{ text: 'x', finishReason: 'stop' }]);
    expect(engine?.requests.at(-1)?.body).toMatchObject({ prompt: 'Once' });
  });

  it('closes the connection when its consumer leaves', async () => {
    let connection: ServerResponse | undefined;
    const generator = await open((response) => {
      connection = response;
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(delta('a'));
    });
    for await (const { text } of generator.generate({ messages, parameters: {} })) {
      expect(text).toBe('a');
      break;
    }
    await once(connection!, 'close');
    expect(connection?.writableFinished).toBe(false);
  });

  it('is cancelled by its signal', async () => {
    const leaving = new AbortController();
    const generator = await open((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(delta('a'));
    });
    const events = generator.generate({ messages, parameters: {} }, leaving.signal);
    await events.next();
    leaving.abort();
    await expect(events.next()).rejects.toMatchObject({ code: 'cancelled' });
  });

  it.each([
    ['a refusal', 400, { error: { message: 'too hot, no key', param: 'top_p' } }, 'invalid_request', 'top_p'],
    ['too much load', 429, { error: 'queue full' }, 'overloaded', null],
    ['a wrong key', 401, { error: { message: 'no key' } }, 'bad_upstream', null],
    ['a missing backend', 503, { detail: 'loading' }, 'service_unavailable', null],
    ['a failure', 500, 'oops', 'bad_upstream', null],
  ])('maps %s', async (_name, status, body, code, param) => {
    const chat: Answer = (response) => sendJson(response, body, status, { 'retry-after': '7' });
    const error = collect(chat);
    await expect(error).rejects.toMatchObject({ code, param });
    await expect(error).rejects.toThrow(/too hot|queue full|no key|loading|oops/);
  });

  it.each([
    ['OpenAI', 400, { error: { message: 'Too much.', code: 'context_length_exceeded' } }],
    [
      'vLLM',
      400,
      {
        error: {
          message: "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens.",
          type: 'BadRequestError',
          code: 400,
        },
      },
    ],
    [
      'a newer vLLM',
      400,
      {
        error: {
          message: 'The decoder prompt (length 9000) is longer than the maximum model length of 8192.',
        },
      },
    ],
    [
      'llama.cpp',
      400,
      { error: { code: 400, message: 'The request is too large.', type: 'exceed_context_size_error' } },
    ],
    ['Ollama', 400, { error: { message: 'the input length exceeds the context length', code: null } }],
    [
      'TGI',
      422,
      {
        error: 'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000',
        error_type: 'validation',
      },
    ],
    [
      'SGLang',
      400,
      { message: "The input (9000 tokens) is longer than the model's context length (8192 tokens)." },
    ],
  ])('knows a prompt that is too long for %s', async (_name, status, body) => {
    await expect(collect((response) => sendJson(response, body, status))).rejects.toMatchObject({
      code: 'context_length_exceeded',
      status: 400,
      param: 'messages',
    });
  });

  it('knows a prompt that is too long by an error in the stream', async () => {
    const message = 'the request exceeds the available context size';
    await expect(collect(stream(frame({ error: { message } })))).rejects.toMatchObject({
      code: 'context_length_exceeded',
      message,
    });
  });

  it.each([
    ['llama.cpp', '/props', { default_generation_settings: { n_ctx: 16384 } }],
    [
      'Ollama',
      '/api/show',
      { parameters: 'stop "x"\nnum_ctx    16384', model_info: { 'a.context_length': 5 } },
    ],
    ['Ollama that has loaded the model', '/api/ps', { models: [{ name: 'second', context_length: 16384 }] }],
    ['TGI', '/info', { max_total_tokens: 16384 }],
    ['LM Studio', '/api/v0/models', { data: [{ id: 'second', loaded_context_length: 16384 }] }],
  ])('asks %s for the length of its context', async (_name, path, body) => {
    const generator = await open(
      stream(),
      { [path]: (response) => sendJson(response, body) },
      { model: 'second' },
    );
    expect(generator.info.maxInputTokens).toBe(16384);
    expect(generator.info).not.toHaveProperty('assumesLength');
  });

  it("guesses the length of Ollama's default, because it reports the length of the training", async () => {
    const show: Answer = (response) => sendJson(response, { model_info: { 'llama.context_length': 131072 } });
    const generator = await open(stream(), { '/api/show': show }, { model: 'second' });
    expect(generator.info).toMatchObject({ maxInputTokens: 4096, assumesLength: true });
  });

  it('says that it guesses, unless it is told the length', async () => {
    const guessing = await open(stream(), {}, { model: 'second' });
    expect(guessing.info).toMatchObject({ maxInputTokens: 8192, assumesLength: true });
    const told = await openRemoteGenerator({ endpoint: engine!.url, model: 'second', contextLength: 500 });
    expect(told.info.maxInputTokens).toBe(500);
  });

  it('refuses what does not fit before it asks', async () => {
    const tokenize: Answer = (response) => sendJson(response, { count: 5000 });
    const long = [{ role: 'user' as const, content: 'a '.repeat(4000) }];
    const generator = await open(stream(), { '/tokenize': tokenize });
    const counted = generator.generate({ messages: long, parameters: {} }).next();
    await expect(counted).rejects.toMatchObject({
      code: 'context_length_exceeded',
      message: 'The input has 5000 tokens, but first takes at most 4096.',
    });
    const other = await openRemoteGenerator({ endpoint: engine!.url, model: 'second', contextLength: 100 });
    const estimated = other.generate({ messages: long, parameters: {} }).next();
    await expect(estimated).rejects.toMatchObject({ code: 'context_length_exceeded' });
    expect(engine?.requests.map(({ path }) => path)).not.toContain('/v1/chat/completions');
  });

  it.each([
    ['an error in the stream', [delta('a'), frame({ error: { message: 'out of memory' } })], /out of memory/],
    ['a frame that is no JSON', ['data: {\n\n'], /invalid JSON: \{/],
    ['a stream that ends early', [delta('a')], /early/],
  ])('says so for %s', async (_name, frames, message) => {
    const error = collect(stream(...frames));
    await expect(error).rejects.toMatchObject({ code: 'bad_upstream' });
    await expect(error).rejects.toThrow(message);
  });

  it('notices that the engine is gone', async () => {
    const generator = await open(stream());
    await engine?.close();
    engine = undefined;
    const error = generator.generate({ messages, parameters: {} }).next();
    await expect(error).rejects.toMatchObject({
      code: 'service_unavailable',
      service: 'llm',
      message: expect.not.stringContaining('127.0.0.1') as string,
    });
    await expect(generator.check(AbortSignal.timeout(5000))).rejects.toMatchObject({
      code: 'service_unavailable',
    });
  });

  it('knows what the engine serves', async () => {
    const generator = await open(stream(), {}, { model: 'second' });
    expect(generator.info).toMatchObject({ id: 'second', backend: 'openai', maxInputTokens: 8192 });
    const endpoint = `${engine?.url}/v1/`;
    expect((await openRemoteGenerator({ endpoint })).info).toMatchObject({
      id: 'first',
      maxInputTokens: 4096,
    });
    await expect(openRemoteGenerator({ endpoint, model: 'third' })).rejects.toMatchObject({
      code: 'model_not_found',
      message: expect.stringContaining('first, second'),
    });
  });

  it('lets the engine count tokens where it can', async () => {
    const generator = await open(stream(), { '/tokenize': (response) => sendJson(response, { count: 42 }) });
    expect(await generator.countPromptTokens(messages)).toBe(42);
    const other = await openRemoteGenerator({ endpoint: engine!.url });
    expect(await other.countPromptTokens('Once')).toBe(42);
  });

  it('goes on counting after a prompt that the engine refuses to count', async () => {
    let asked = 0;
    const generator = await open(stream(done), {
      '/tokenize': (response) => {
        if (++asked === 1) response.writeHead(400).end('{"error":{"message":"no"}}');
        else sendJson(response, { count: 77 });
      },
    });
    expect(await generator.countPromptTokens(messages)).not.toBe(77);
    expect(await generator.countPromptTokens(messages)).toBe(77);
  });

  const owned = (owned_by: string): Answer => {
    return (response) => sendJson(response, { data: [{ id: 'm', owned_by, max_model_len: 4096 }] });
  };

  it('counts with the tokenizer of llama.cpp, also of an older one', async () => {
    const more: Record<string, Answer> = {
      '/v1/models': owned('llamacpp'),
      '/v1/chat/completions/input_tokens': (response) => sendJson(response, { input_tokens: 32 }),
    };
    expect(await (await open(stream(), more)).countPromptTokens(messages)).toBe(32);
    await engine?.close();
    const older: Record<string, Answer> = {
      '/v1/models': owned('llamacpp'),
      '/apply-template': (response) => sendJson(response, { prompt: '<|user|>Hello?<|assistant|>' }),
      '/tokenize': (response, { body }) =>
        sendJson(response, { tokens: (body['content'] as string).match(/\w+/g) }),
    };
    const generator = await open(stream(), older);
    expect(await generator.countPromptTokens(messages)).toBe(3);
    expect(await generator.countPromptTokens('One two')).toBe(2);
    expect(engine?.requests.at(-1)?.body).toMatchObject({ add_special: true, parse_special: true });
  });

  it.each<[string, Record<string, Answer>, string, boolean]>([
    [
      'vLLM, by the tokens of a prompt',
      {
        '/v1/models': owned('vllm'),
        '/tokenize': (response) => sendJson(response, { count: 2, token_strs: ['Hi', '<think>', 'Ċ'] }),
      },
      'm',
      true,
    ],
    [
      'llama.cpp, by a prompt',
      {
        '/v1/models': owned('llamacpp'),
        '/apply-template': (response) => sendJson(response, { prompt: 'Hi<think>\n</think>\n' }),
      },
      'm',
      false,
    ],
    [
      'another engine, by the name of its model',
      {
        '/v1/models': (response) => sendJson(response, { data: [{ id: 'deepseek-r1:8b', owned_by: 'x' }] }),
      },
      'deepseek-r1:8b',
      true,
    ],
  ])('knows whether answers begin within the reasoning of %s', async (_name, more, model, begin) => {
    expect((await open(stream(), more, { model })).thoughts.begin).toBe(begin);
  });

  it('asks Ollama for the length that it serves once a model is loaded', async () => {
    let isLoaded = false;
    const chat: Answer = (response, request) => {
      isLoaded = true;
      return stream(delta('a', 0, 'stop'), done)(response, request);
    };
    const generator = await open(
      chat,
      {
        '/v1/models': (response) => sendJson(response, { data: [{ id: 'q:latest', owned_by: 'library' }] }),
        '/api/ps': (response) =>
          sendJson(response, { models: isLoaded ? [{ name: 'q:latest', context_length: 32768 }] : [] }),
        '/api/show': (response) => sendJson(response, { model_info: { 'q.context_length': 131072 } }),
      },
      { model: 'q' },
    );
    expect(generator.info).toMatchObject({ id: 'q:latest', maxInputTokens: 4096, assumesLength: true });
    for await (const { text } of generator.generate({ messages, parameters: {} })) expect(text).toBe('a');
    await expect.poll(() => generator.info).toMatchObject({ maxInputTokens: 32768 });
    expect(generator.info).not.toHaveProperty('assumesLength');
  });
});
