import { afterEach, describe, expect, it } from 'vitest';
import { sendJson, startEngine, type TestEngine } from './engine.fixture.js';
import { engineKind } from './engine-kind.js';
import { RemoteServer } from './remote-server.js';
import { openRemoteGenerator } from './remote-generator.js';

describe('engineKind', () => {
  let engine: TestEngine | undefined;
  afterEach(() => engine?.close());

  it.each([
    ['vllm', 'vllm'],
    ['llamacpp', 'llama.cpp'],
    ['library', 'ollama'],
    ['system', 'openai'],
  ])('knows %s by its models', async (owner, kind) => {
    engine = await startEngine({});
    expect(await engineKind(new RemoteServer('llm', { endpoint: engine.url }), owner)).toBe(kind);
    expect(engine.requests).toEqual([]);
  });

  it('asks whether it is Ollama, and takes another for none of them', async () => {
    engine = await startEngine({ '/api/version': (response) => sendJson(response, { version: '0.12.0' }) });
    expect(await engineKind(new RemoteServer('llm', { endpoint: engine.url }), 'somebody')).toBe('ollama');
    await engine.close();
    engine = await startEngine({});
    expect(await engineKind(new RemoteServer('llm', { endpoint: engine.url }), undefined)).toBe('other');
  });

  it('asks whether it is LM Studio', async () => {
    const data = [{ id: 'm', max_context_length: 4096 }];
    engine = await startEngine({ '/api/v0/models': (response) => sendJson(response, { data }) });
    expect(await engineKind(new RemoteServer('llm', { endpoint: engine.url }), 'somebody')).toBe('lm-studio');
  });

  it('is what requests go by', async () => {
    engine = await startEngine({
      '/v1/models': (response) => sendJson(response, { data: [{ id: 'm', owned_by: 'sglang' }] }),
      '/v1/chat/completions': (response) => {
        const choices = [{ index: 0, delta: { content: 'aa' }, finish_reason: 'stop' }];
        const frames = `data: ${JSON.stringify({ choices })}\n\ndata: [DONE]\n\n`;
        response.writeHead(200, { 'content-type': 'text/event-stream' }).end(frames);
      },
    });
    const generator = await openRemoteGenerator({ endpoint: engine.url });
    const parameters = { constraint: { type: 'regex' as const, pattern: 'a+' } };
    const kwargs = { reasoning_effort: 'high' };
    const request = {
      messages: [{ role: 'user' as const, content: 'hi' }],
      parameters,
      chatTemplateKwargs: kwargs,
    };
    for await (const event of generator.generate(request)) expect(event.text).toBe('aa');
    const body = engine.requests.find(({ path }) => path === '/v1/chat/completions')?.body;
    expect(body).toMatchObject({ regex: 'a+', reasoning_effort: 'high', chat_template_kwargs: kwargs });
  });
});
