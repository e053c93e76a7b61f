import { startStack, type TestStack } from '#platform/testing';
import type OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ingestText } from './helpers/ingest.js';
import {
  assertValid,
  assertValidLog,
  collect,
  isDelta,
  newClient,
  responseOf,
  textOf,
} from './helpers/response-events.js';

const question = 'How many days of paid vacation do employees receive?';
const fact = 'Employees receive 25 days of paid vacation per year.';
/** The paragraph with the fact. */
const paragraph = `${fact} Ask two weeks in advance.`;

let stack: TestStack;
let client: OpenAI;
let llm: string;

beforeAll(async () => {
  stack = await startStack();
  const { url } = stack.service('gateway');
  client = newClient(url);
  await ingestText(url, 'rules.md', `# Company rules\n\n## Vacation\n\n${paragraph}`);
  await ingestText(url, 'office.md', '# Office\n\nThe office in Lisbon opens at 8 am and closes at 7 pm.');
  const models = await client.models.list();
  llm = models.data.find(({ id }) => id.includes('nano-chat'))?.id ?? '';
});
afterAll(() => stack?.stop());

describe('responses of the bundled models', () => {
  it('cite the file that the answer stands in', async () => {
    const response = await client.responses.create({
      model: 'chatqna',
      input: question,
      include: ['file_search_call.results'],
    });
    assertValid(response);
    expect(response.output_text).toBe(`${paragraph} [1]`);
    const [search, message] = response.output;
    const results = search?.type === 'file_search_call' ? search.results : [];
    const part = message?.type === 'message' ? message.content[0] : undefined;
    const [citation] = part?.type === 'output_text' ? part.annotations : [];
    const cited = results?.find(
      (result) => citation?.type === 'file_citation' && result.file_id === citation.file_id,
    );
    expect(citation).toMatchObject({
      type: 'file_citation',
      filename: 'rules.md',
      quote: fact,
      url: expect.stringMatching(/^http:\/\/.*\/#\/documents\/[\w-]+\?passage=\d+$/) as string,
    });
    expect(cited?.text).toContain(fact);
    expect(response.usage?.output_tokens).toBeGreaterThan(5);
  });

  it('stream in increments that join to the answer', async () => {
    const events = await collect(
      await client.responses.create({ model: 'chatqna', input: question, stream: true }),
    );
    assertValidLog(events);
    expect(events.filter(isDelta).length).toBeGreaterThan(1);
    expect(textOf(events)).toBe(`${paragraph} [1]`);
    expect(responseOf(events).output_text).toBe(`${paragraph} [1]`);
  });

  it('come from the language model alone where that is named, and go on from each other', async () => {
    const first = await client.responses.create({ model: llm, input: 'Hello!' });
    assertValid(first);
    expect(first.output.map(({ type }) => type)).toEqual(['message']);
    const counted = await client.responses.inputTokens.count({ model: llm, input: 'Hello!' });
    expect(counted.input_tokens).toBe(first.usage?.input_tokens);
    const second = await client.responses.create({
      model: llm,
      input: 'Hi.',
      previous_response_id: first.id,
    });
    expect(second.usage?.input_tokens).toBeGreaterThan(first.usage?.input_tokens ?? Infinity);
  });

  it('come 16 at a time, in the background too, all with the same greedy answer', async () => {
    const begun = await Promise.all(
      Array.from({ length: 16 }, (_unused, index) =>
        client.responses.create({ model: 'chatqna', input: question, background: index % 2 === 0 }),
      ),
    );
    const ended = await Promise.all(
      begun.map(async ({ id }) => {
        const stream = await client.responses.retrieve(id, { stream: true });
        return responseOf(await collect(stream));
      }),
    );
    expect(new Set(ended.map(({ output_text }) => output_text))).toEqual(new Set([`${paragraph} [1]`]));
    for (const response of ended) assertValid(response);
  });
});

describe('tools for a model that calls none', () => {
  const weather = { name: 'get_weather', parameters: { type: 'object', properties: {} } };
  const inChat = { tools: [{ type: 'function', function: weather }] };
  const inResponse = { tools: [{ type: 'function', ...weather, strict: false }] };
  const ask = async (path: string, body: object) => {
    const answer = await fetch(stack.service('gateway').url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: llm, max_tokens: 20, ...body }),
    });
    const text = await answer.text();
    return { status: answer.status, text, ignored: answer.headers.get('x-meganest-ignored') };
  };
  const messages = 'What is the weather in Paris?';

  it('are named as ignored, and it answers as without them', async () => {
    const chat = await ask('/v1/chat/completions', { messages, ...inChat });
    const plain = await ask('/v1/chat/completions', { messages });
    expect(chat).toMatchObject({ status: 200, ignored: 'tools' });
    const contentOf = (text: string) =>
      (JSON.parse(text) as OpenAI.ChatCompletion).choices[0]?.message.content;
    expect(contentOf(chat.text)).toBe(contentOf(plain.text));
    const response = await ask('/v1/responses', { input: messages, max_output_tokens: 20, ...inResponse });
    expect(response).toMatchObject({ status: 200, ignored: expect.stringMatching(/\btools\b/) as string });
    const none = await ask('/v1/chat/completions', { messages, ...inChat, tool_choice: 'none' });
    expect(none.ignored).toBeNull();
  });

  it.each([
    ['/v1/chat/completions', { messages, ...inChat, tool_choice: 'required' }],
    [
      '/v1/chat/completions',
      { messages, ...inChat, tool_choice: { type: 'function', function: { name: 'get_weather' } } },
    ],
    ['/v1/responses', { input: messages, ...inResponse, tool_choice: 'required' }],
    [
      '/v1/responses',
      { input: messages, ...inResponse, tool_choice: { type: 'function', name: 'get_weather' } },
    ],
  ])('are a 400 in %s where a call is demanded: %#', async (path, body) => {
    const { status, text } = await ask(path, body);
    expect(status).toBe(400);
    expect(JSON.parse(text)).toMatchObject({
      error: { param: 'tool_choice', code: 'unsupported_parameter' },
    });
  });

  it('are ignored before a mega service whose model calls none', async () => {
    const chat = await ask('/v1/chat/completions', { messages: question, ...inChat, model: 'chatqna' });
    const response = await ask('/v1/responses', { input: question, ...inResponse, model: 'chatqna' });
    for (const answer of [chat, response])
      expect(answer).toMatchObject({ status: 200, ignored: expect.stringMatching(/\btools\b/) as string });
  });
});
