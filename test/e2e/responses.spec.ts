import type OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { postJson } from './helpers/http.js';
import {
  collectRaw,
  assertValid,
  assertValidLog,
  askerOf,
  collect,
  failureOf,
  newClient,
  responseOf,
  textOf,
} from './helpers/response-events.js';
import { scriptedModel as model } from './helpers/scripted-services.js';
import { startScriptedStack, type ScriptedStack } from './helpers/scripted-stack.js';

let stack: ScriptedStack;
let client: OpenAI;
let url: string;
const { create, stream } = askerOf(() => client);

beforeAll(async () => {
  stack = await startScriptedStack();
  url = stack.gateway.url;
  client = newClient(url);
});
afterAll(() => stack?.stop());

describe('creating a response', () => {
  it('answers the whole response object', async () => {
    const response = await create({
      input: 'Hello dear world',
      metadata: { a: 'b' },
      instructions: 'Be kind.',
    });
    expect(response).toMatchObject({
      object: 'response',
      status: 'completed',
      model,
      output_text: 'Hello dear world',
      instructions: 'Be kind.',
      metadata: { a: 'b' },
      store: true,
      background: false,
      usage: { input_tokens: 5, output_tokens: 3, total_tokens: 8 },
    });
    assertValid(response);
    expect(await client.responses.retrieve(response.id)).toEqual(response);
  });

  it('streams its log, ended by [DONE]', async () => {
    const events = await collect(await stream({ input: 'Hello dear world' }));
    expect(events.map(({ type }) => type)).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.delta',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.completed',
    ]);
    assertValidLog(events);
    const response = responseOf(events);
    expect(textOf(events)).toBe('Hello dear world');
    expect(await client.responses.retrieve(response.id)).toMatchObject({ output_text: 'Hello dear world' });
    const raw = await fetch(`${url}/responses`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model, input: 'x', stream: true }),
    });
    const text = await raw.text();
    expect(text).toMatch(/^event: response\.created\ndata: \{.*\}\n\n/);
    expect(text.endsWith('\n\ndata: [DONE]\n\n')).toBe(true);
  });

  it("is followed by the client's own stream helper", async () => {
    const response = await client.responses.stream({ model, input: 'one two' }).finalResponse();
    expect(response.output_text).toBe('one two');
  });

  it('gives log probabilities where they are asked for', async () => {
    const events = await collect(
      await stream({ input: 'a b', include: ['message.output_text.logprobs'], top_logprobs: 1 }),
    );
    assertValidLog(events);
    const [message] = responseOf(events).output;
    const part = message?.type === 'message' ? message.content[0] : undefined;
    expect(part?.type === 'output_text' && part.logprobs?.map(({ token }) => token)).toEqual(['a ', 'b']);
  });

  it('is incomplete where max_output_tokens cuts it off', async () => {
    const response = await create({ input: 'count 50', max_output_tokens: 16 });
    expect(response).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
    });
    assertValid(response);
    const events = await collect(await stream({ input: 'count 50', max_output_tokens: 16 }));
    expect(events.at(-1)?.type).toBe('response.incomplete');
    assertValidLog(events);
  });

  it('shows the retrieval of a mega service and cites its documents', async () => {
    const include = ['file_search_call.results'] as const;
    const events = await collect(await stream({ model: 'chatqna', input: 'What?', include: [...include] }));
    assertValidLog(events);
    const { output } = responseOf(events);
    expect(output).toMatchObject([
      {
        type: 'file_search_call',
        status: 'completed',
        queries: ['What?'],
        results: [{ file_id: 'document-1', filename: 'file-1.md', text: 'Passage 1 says 1.' }, {}],
      },
      {
        type: 'message',
        content: [
          {
            annotations: [{ type: 'file_citation', file_id: 'document-1', filename: 'file-1.md', index: 5 }],
          },
        ],
      },
    ]);
    const plain = await create({ model: undefined, input: 'What?' });
    expect(plain).toMatchObject({
      model: 'chatqna',
      output: [{ type: 'file_search_call', results: null }, {}],
    });
    assertValid(plain);
  });

  it('shows a refusal as a part of its own, with its events', async () => {
    const events = await collect(await stream({ input: 'refuse: I will not.' }));
    assertValidLog(events);
    expect(events.map(({ type }) => type).filter((type) => type.includes('refusal'))).toEqual([
      'response.refusal.delta',
      'response.refusal.delta',
      'response.refusal.delta',
      'response.refusal.done',
    ]);
    const response = responseOf(events);
    expect(response).toMatchObject({ status: 'completed', output_text: '' });
    expect(response.output).toMatchObject([{ content: [{ type: 'refusal', refusal: 'I will not.' }] }]);
    const next = await create({ input: 'recall', previous_response_id: response.id });
    expect(next.output_text).toContain('assistant: I will not.');
  });

  it('repeats labels and hands them to the engine', async () => {
    const labels = { user: 'u', safety_identifier: 's', prompt_cache_key: 'k' };
    const answer = await postJson(`${url}/v1/responses`, { model, input: 'x', length_penalty: 2, ...labels });
    expect(answer.body).toMatchObject(labels);
    expect(stack.witness.asked?.labels).toEqual(labels);
    expect(answer.headers.get('x-meganest-ignored')).toBe('length_penalty');
  });

  it('refuses a request whose only tools are not served', async () => {
    const answer = await postJson(`${url}/v1/responses`, {
      model,
      input: 'x',
      tools: [{ type: 'code_interpreter', container: { type: 'auto' } }],
    });
    expect(answer).toMatchObject({ status: 400, body: { error: { param: 'tools[0].type' } } });
  });

  it('accepts tools that it cannot call, and says so', async () => {
    const tools = [{ type: 'function', name: 'add' }, { type: 'web_search' }];
    const answer = await postJson(`${url}/v1/responses`, {
      model,
      input: 'x',
      tools,
      prompt_cache_retention: '24h',
      foo: 1,
    });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('x-meganest-ignored')).toBe('prompt_cache_retention, tools.web_search, foo');
  });

  it.each([
    [{ input: 'x', tool_choice: 'required' }, 400, 'invalid_request', 'tool_choice'],
    [
      { input: [{ role: 'user', content: [{ type: 'input_image', image_url: 'x' }] }] },
      400,
      'unsupported_parameter',
      'input[0].content[0]',
    ],
    [{ input: 'x', temperature: 9 }, 400, 'invalid_request', 'temperature'],
    [{}, 400, 'invalid_request', 'input'],
    [{ input: 'x', model: 'nobody' }, 404, 'model_not_found', 'model'],
    [
      { input: 'x', previous_response_id: 'resp_0' },
      400,
      'previous_response_not_found',
      'previous_response_id',
    ],
    [{ input: 'x', conversation: 'conv_0' }, 404, 'not_found', 'conversation'],
    [{ input: 'x', n: 2 }, 400, 'unsupported_parameter', 'n'],
    [{ input: 'x', best_of: 2 }, 400, 'unsupported_parameter', 'best_of'],
    [{ input: 'x', prompt: { id: 'pmpt_1' } }, 400, 'unsupported_parameter', 'prompt'],
    [{ input: [{ id: 'msg_0' }] }, 404, 'not_found', 'input[0].id'],
    [
      { input: 'x', previous_response_id: 'a', conversation: 'b' },
      400,
      'mutually_exclusive_parameters',
      'previous_response_id',
    ],
    [{ input: `x ${'y '.repeat(300)}` }, 400, 'context_length_exceeded', null],
  ])('refuses %o', async (body, status, code, param) => {
    for (const streaming of [false, true]) {
      const answer = await postJson(`${url}/v1/responses`, { model, stream: streaming, ...body });
      expect({ status: answer.status, ...(answer.body as { error: object }).error }).toMatchObject({
        status,
        code,
        param,
      });
    }
  });

  it.each([
    [{}, 'input: must be a text, or a list of at least one item'],
    [{ input: [] }, 'input: must be a text, or a list of at least one item'],
    [{ input: [{ type: 'foo' }] }, 'input: contains no item that the model can read, only foo'],
  ])('says of %o what is missing', async (body, message) => {
    for (const path of ['responses', 'responses/compact'].slice(
      0,
      'input' in body && body.input.length > 0 ? 1 : 2,
    )) {
      const answer = await postJson(`${url}/v1/${path}`, { model, ...body });
      expect(answer).toMatchObject({ status: 400, body: { error: { message, param: 'input' } } });
    }
  });

  it('answers 16 at a time, each its own', async () => {
    const numbers = Array.from({ length: 16 }, (_unused, index) => index);
    const all = await Promise.all(
      numbers.map(async (number) => {
        if (number % 2 === 0) return create({ input: `number ${number}` });
        return responseOf(await collect(await stream({ input: `number ${number}` })));
      }),
    );
    expect(all.map(({ output_text }) => output_text)).toEqual(numbers.map((number) => `number ${number}`));
    for (const response of all) assertValid(response);
  });
});

describe('failures', () => {
  it('in mid-stream are an error event and response.failed', async () => {
    const raw = await fetch(`${url}/v1/responses`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model, input: 'break after 2', stream: true }),
    });
    const events = await collectRaw(raw);
    assertValidLog(events);
    expect(events.slice(-2).map(({ type }) => type)).toEqual(['error', 'response.failed']);
    expect(responseOf(events)).toMatchObject({
      status: 'failed',
      output_text: 'word word ',
      error: { code: 'server_error' },
    });
    expect((await client.responses.retrieve(responseOf(events).id)).status).toBe('failed');
  });

  it('of a response that is sent whole have their status, and leave nothing', async () => {
    expect(await failureOf(create({ input: 'break after 2' }))).toMatchObject({
      status: 500,
      code: 'internal_error',
    });
  });

  it('before the first token have their status even for a stream', async () => {
    expect(await failureOf(stream({ input: 'overloaded' }))).toMatchObject({
      status: 429,
      code: 'overloaded',
    });
  });
});
