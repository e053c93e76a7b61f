import { MegaNestError, type GenerationParameters } from '#platform/contracts';
import type { GenerateRequest } from '#engine/generation';
import { afterEach, describe, expect, it } from 'vitest';
import { sendJson, startEngine, type TestEngine } from './engine.fixture.js';
import { RefusedFields } from './refused-fields.js';
import { openRemoteGenerator } from './remote-generator.js';

const refusal = (detail: string, param?: string) => new MegaNestError('invalid_request', { detail, param });

describe('RefusedFields', () => {
  it.each<[string, object, string, object]>([
    [
      'the limit of OpenAI’s reasoning models, and their fixed sampling',
      { max_tokens: 9, temperature: 0.2, top_p: 1 },
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
      { max_completion_tokens: 9, top_p: 1 },
    ],
    [
      'the temperature',
      { max_completion_tokens: 9, temperature: 0.2 },
      "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.",
      { max_completion_tokens: 9 },
    ],
    [
      'an engine that knows the older limit only',
      { max_completion_tokens: 9 },
      'Unrecognized request argument supplied: max_completion_tokens',
      { max_tokens: 9 },
    ],
    [
      'a least effort',
      { reasoning_effort: 'none' },
      "Unsupported value: 'reasoning_effort' does not support 'none' with this model. Supported values are: 'minimal', 'low', 'medium' and 'high'.",
      { reasoning_effort: 'minimal' },
    ],
    [
      'a most effort',
      { reasoning_effort: 'max' },
      "reasoning_effort: 'max' is not supported, take 'low', 'medium', or 'high'",
      { reasoning_effort: 'high' },
    ],
    [
      'an effort at all',
      { reasoning_effort: 'low' },
      "Unsupported parameter: 'reasoning_effort' is not supported with this model.",
      {},
    ],
    [
      'template variables in a strict API',
      { chat_template_kwargs: { enable_thinking: false }, seed: 3 },
      '{"detail":[{"type":"extra_forbidden","loc":["body","chat_template_kwargs"],"msg":"Extra inputs are not permitted"}]}',
      { seed: 3 },
    ],
  ])('leave out or rename %s', (_name, body, message, accepted) => {
    const refused = new RefusedFields();
    refused.learn(refusal(message), { ...body });
    expect(refused.adapt({ ...body }).body).toEqual(accepted);
  });

  it.each<[string, object, MegaNestError]>([
    ['a wrong value', { temperature: 1.9 }, refusal('temperature must be at most 1', 'temperature')],
    [
      'a field that the answer needs',
      { stop: 'x' },
      refusal("'stop' is not supported with this model", 'stop'),
    ],
    [
      'another error',
      { temperature: 1 },
      new MegaNestError('bad_upstream', { detail: 'temperature not supported' }),
    ],
    ['a field that was not sent', {}, refusal("'top_k' is not supported")],
  ])('learn nothing from %s', (_name, body, error) => {
    expect(new RefusedFields().learn(error, { ...body })).toBe(false);
  });
});

describe('an engine that refuses fields', () => {
  let engine: TestEngine | undefined;
  afterEach(() => engine?.close());

  /** Like OpenAI's reasoning models, it refuses the older limit first, then the temperature. */
  async function start() {
    engine = await startEngine({
      '/v1/models': (response) => sendJson(response, { data: [{ id: 'm', owned_by: 'proxy' }] }),
      '/v1/chat/completions': (response, { body }) => {
        const refuse = (message: string) => sendJson(response, { error: { message } }, 400);
        if ('max_tokens' in body)
          return refuse(
            "'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
          );
        if ('temperature' in body) return refuse("'temperature' does not support 0.2 with this model.");
        const choices = [{ index: 0, delta: { content: 'Hi' }, finish_reason: 'stop' }];
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.end(`data: ${JSON.stringify({ choices })}\n\ndata: [DONE]\n\n`);
      },
    });
    const generator = await openRemoteGenerator({ endpoint: engine.url });
    const ask = async (parameters: GenerationParameters) => {
      const ignored: string[] = [];
      const request: GenerateRequest = {
        messages: [{ role: 'user', content: 'hi' }],
        parameters,
        reportIgnored: (fields) => ignored.push(...fields),
      };
      for await (const { text } of generator.generate(request)) expect(text).toBe('Hi');
      return ignored;
    };
    const asked = () => engine!.requests.filter(({ path }) => path === '/v1/chat/completions');
    return { ask, asked };
  }

  it('is asked once more, then never again with them, and the caller learns of it', async () => {
    const { ask, asked } = await start();
    expect(await ask({ max_tokens: 9, temperature: 0.2 })).toEqual(['temperature']);
    expect(asked()).toHaveLength(2);
    expect(await ask({ max_tokens: 5, temperature: 0.2 })).toEqual(['temperature']);
    expect(asked()).toHaveLength(3);
    expect(asked().at(-1)?.body).toMatchObject({ max_completion_tokens: 5 });
    expect(await ask({})).toEqual([]);
  });
});
