import type { ChatCompletion, ChatCompletionChunk } from '#api/openai-api';
import { startNats, startService, type TestNats, type TestService } from '#platform/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let nats: TestNats;
let service: TestService;

beforeAll(async () => {
  nats = await startNats();
  // It is not said to call tools, for it does not do so wisely.
  service = await startService('llm', { NATS_URL: nats.url, LLM_TOOLS: 'true' });
});
afterAll(async () => {
  await service?.stop();
  await nats?.stop();
});

const send = (body: object) =>
  fetch(`${service.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ max_tokens: 200, ...body }),
  });

const weather = {
  type: 'function',
  function: {
    name: 'get_weather',
    description: 'Get the current weather',
    strict: true,
    parameters: {
      type: 'object',
      properties: { city: { type: 'string', maxLength: 20 } },
      required: ['city'],
      additionalProperties: false,
    },
  },
};
const messages = [{ role: 'user', content: 'What is the weather in Paris?' }];

/** The bundled model is no wise one; what it writes keeps its form all the same. */
describe('the bundled model, held to a form', () => {
  it('calls the tool that it must, with arguments of its schema, in one piece or streamed', async () => {
    const body = { messages, tools: [weather], tool_choice: 'required', parallel_tool_calls: false };
    const completion = (await (await send(body)).json()) as ChatCompletion;
    const [choice] = completion.choices;
    expect(choice?.finish_reason).toBe('tool_calls');
    const [call, ...others] = choice?.message.tool_calls ?? [];
    expect([call?.type, others]).toEqual(['function', []]);
    const given = call?.type === 'function' ? call.function : undefined;
    expect(given?.name).toBe('get_weather');
    expect(JSON.parse(given?.arguments ?? '')).toEqual({ city: expect.any(String) as string });

    const text = await (await send({ ...body, stream: true })).text();
    const frames = text.split('\n\n').filter((frame) => frame.startsWith('data: {'));
    const deltas = frames.flatMap((frame) =>
      (JSON.parse(frame.slice('data: '.length)) as ChatCompletionChunk).choices.map(({ delta }) => delta),
    );
    expect(deltas.map(({ content }) => content ?? '').join('')).toBe('');
    const pieces = deltas.flatMap(({ tool_calls = [] }) => tool_calls);
    expect(pieces.map((piece) => piece.function?.arguments ?? '').join('')).toBe(given?.arguments);
  });

  it('answers in JSON of the schema', async () => {
    const schema = {
      type: 'object',
      properties: { mood: { enum: ['good', 'bad'] }, score: { type: 'integer', minimum: 1, maximum: 5 } },
      required: ['mood', 'score'],
      additionalProperties: false,
    };
    const format = { type: 'json_schema', json_schema: { name: 'mood', strict: true, schema } };
    const answer = await send({ messages, response_format: format });
    const { choices } = (await answer.json()) as ChatCompletion;
    const { mood, score } = JSON.parse(choices[0]?.message.content ?? '') as { mood: string; score: number };
    expect(['good', 'bad']).toContain(mood);
    expect([1, 2, 3, 4, 5]).toContain(score);
  });

  it('says why where a schema cannot be held to', async () => {
    const format = { type: 'json_schema', json_schema: { name: 'x', schema: { type: 'nothing' } } };
    const answer = await send({ messages, response_format: format });
    expect(answer.status).toBe(400);
  });
});
