import {
  describeLlmModel,
  generate,
  healthMethod,
  type GenerationChunk,
  type RequestOf,
} from '#platform/contracts';
import { RpcClient } from '#platform/messaging';
import type { ChatCompletion, ChatCompletionChunk } from '#api/openai-api';
import type { TestService } from '#platform/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startServiceWithClient, type ServiceWithClient } from '../../support/service-with-client.js';
import { answer, documents, noAnswer, question, quote } from './passages.js';

describe('the LLM service', () => {
  let running: ServiceWithClient;
  let service: TestService;
  let client: RpcClient;

  beforeAll(async () => {
    running = await startServiceWithClient('llm');
    ({ service, client } = running);
  });

  afterAll(() => running?.stop());

  async function collect(request: Omit<RequestOf<typeof generate>, 'messages'> & { ask: string }) {
    const { ask, ...rest } = request;
    const chunks: GenerationChunk[] = [];
    const messages = [{ role: 'user' as const, content: ask }];
    for await (const chunk of client.stream(generate, { messages, ...rest })) chunks.push(chunk);
    return { chunks, text: chunks.map(({ text }) => text).join(''), last: chunks.at(-1) };
  }

  function send(body: unknown) {
    return fetch(`${service.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  }

  async function complete(body: unknown) {
    const response = await send(body);
    const text = await response.text();
    expect({ status: response.status, text }).toMatchObject({ status: 200 });
    return JSON.parse(text) as ChatCompletion;
  }

  async function stream(body: Record<string, unknown>) {
    const response = await send({ ...body, stream: true });
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    const frames = (await response.text()).split('\n\n').filter(Boolean);
    expect(frames.at(-1)).toBe('data: [DONE]');
    return frames
      .slice(0, -1)
      .map((frame) => JSON.parse(frame.slice('data: '.length)) as ChatCompletionChunk);
  }

  const contentOf = (chunks: ChatCompletionChunk[]) =>
    chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('');

  describe('over NATS', () => {
    it('answers from the passages, in increments, with a citation', async () => {
      const { text, chunks, last } = await collect({ ask: question, documents });
      expect(text).toBe(answer);
      expect(chunks.length).toBeGreaterThan(5);
      expect(last).toMatchObject({
        finishReason: 'stop',
        model: 'nano-reader',
        citations: [{ startIndex: 0, endIndex: quote.length, passage: 1, documentId: 'chunk-office', quote }],
      });
      expect(last?.usage?.promptTokens).toBeGreaterThan(50);
      expect(last?.usage?.completionTokens).toBeGreaterThan(10);
    });

    it('says so where the passages hold no answer', async () => {
      const { text, last } = await collect({ ask: 'Who is the president of France?', documents });
      expect(text).toMatch(
        new RegExp(
          `^${noAnswer} “France” is not mentioned in the documents that were found\\.(\n\nClosest passage.*)?$`,
        ),
      );
      expect(last?.citations).toBeUndefined();
      expect((await collect({ ask: question, documents: [] })).text).toBe(noAnswer);
    });

    it('gives a chat page the title that it asks for, without documents too', async () => {
      const ask =
        'Generate a concise, 3-5 word title for the chat. JSON format: { "title": "…" }\nUSER: What is the tax on salt?\nASSISTANT: 3%.';
      for (const given of [documents, undefined]) {
        const { text } = await collect({ ask, documents: given });
        expect(JSON.parse(text)).toEqual({ title: 'Tax on salt' });
      }
    });

    it('answers a greeting with what it knows, a follow-up with what it refers to', async () => {
      expect((await collect({ ask: 'Hello!', documents })).text).toBe('Hello! Ask me about your documents.');
      const messages = [
        { role: 'user' as const, content: 'What is Zorvex?' },
        { role: 'assistant' as const, content: 'Zorvex is a message broker written in Rust. [1]' },
        { role: 'user' as const, content: 'And when was it released?' },
      ];
      let text = '';
      for await (const chunk of client.stream(generate, { messages, documents })) text += chunk.text;
      expect(text).toContain('It was released in 2031 by the Quonta group. [1]');
    });

    it('takes the template of the request', async () => {
      const chat_template = '### Search results:\n[1] Tea is served at 5 pm.\n\n### Question: {question}';
      expect((await collect({ ask: 'When is tea served?', chat_template })).text).toBe(
        'Tea is served at 5 pm. [1]',
      );
    });

    it('keeps earlier turns', async () => {
      const messages = [
        { role: 'user' as const, content: 'What is Zorvex?' },
        { role: 'assistant' as const, content: 'Zorvex is a message broker written in Rust. [1]' },
        { role: 'user' as const, content: question },
      ];
      const chunks: GenerationChunk[] = [];
      for await (const chunk of client.stream(generate, { messages, documents })) chunks.push(chunk);
      expect(chunks.map(({ text }) => text).join('')).toBe(answer);
    });

    it('drops the oldest turns where the conversation is too long for the model', async () => {
      const turn = { role: 'user' as const, content: 'word '.repeat(1500) };
      const messages = [turn, turn, { role: 'user' as const, content: question }];
      const chunks: GenerationChunk[] = [];
      const chat_template = '{context} {question}';
      const request = { messages, documents, chat_template, max_tokens: 2 };
      for await (const chunk of client.stream(generate, request)) chunks.push(chunk);
      expect(chunks.at(-1)?.usage?.promptTokens).toBeLessThan(2048);
    });

    it('refuses what it cannot do', async () => {
      await expect(collect({ ask: 'hello', model: 'gpt-4o' })).rejects.toMatchObject({
        code: 'model_not_found',
        param: 'model',
        message: expect.stringContaining('nano-chat'),
      });
      await expect(collect({ ask: 'word '.repeat(3000) })).rejects.toMatchObject({
        code: 'context_length_exceeded',
      });
      await expect(collect({ ask: 'a', documents, chat_template: 'no place' })).rejects.toMatchObject({
        code: 'invalid_request',
        param: 'chat_template',
      });
    });

    it('describes its model and its health', async () => {
      const model = await client.request(describeLlmModel, {});
      const health = await client.request(healthMethod('llm'), {});
      expect(health).toMatchObject({
        healthy: true,
        dependencies: [
          { name: 'model', detail: model.id },
          { name: 'reader', detail: 'nano-reader' },
        ],
      });
    });
  });

  describe('over HTTP', () => {
    it.each([
      ["OpenAI's messages", { messages: [{ role: 'user', content: question }], documents }],
      ['messages as a string', { messages: question, documents }],
      ["the specification's message", { message: question, documents }],
      ['query and documents', { query: question, documents: documents.map(({ text }) => text) }],
      ['initial_query and retrieved_docs', { initial_query: question, retrieved_docs: documents }],
    ])('answers %s with a chat.completion', async (_name, body) => {
      const completion = await complete(body);
      expect(completion).toMatchObject({
        object: 'chat.completion',
        model: 'nano-chat',
        choices: [{ index: 0, message: { role: 'assistant', content: answer }, finish_reason: 'stop' }],
      });
      expect(completion.choices[0]?.message.annotations).toHaveLength(1);
      const { prompt_tokens, completion_tokens, total_tokens } = completion.usage;
      expect(prompt_tokens).toBeGreaterThan(0);
      expect(completion_tokens).toBeGreaterThan(0);
      expect(total_tokens).toBe(prompt_tokens + completion_tokens);
    });

    it("honors the reference's max_new_tokens and streaming", async () => {
      const query = 'Once';
      const short = await complete({ query, max_new_tokens: 3, ignore_eos: true });
      expect(short).toMatchObject({
        choices: [{ finish_reason: 'length' }],
        usage: { completion_tokens: 3 },
      });
      const response = await send({ query, max_new_tokens: 3, streaming: true });
      expect(response.headers.get('content-type')).toContain('text/event-stream');
      expect(await response.text()).toContain('data: [DONE]');
    });

    it('streams in increments, with the usage last where it is asked for', async () => {
      const chunks = await stream({
        messages: question,
        documents,
        stream_options: { include_usage: true },
      });
      expect(contentOf(chunks)).toBe(answer);
      expect(chunks.filter(({ choices }) => choices[0]?.delta.content).length).toBeGreaterThan(5);
      const annotations = chunks.flatMap(({ choices }) => choices[0]?.delta.annotations ?? []);
      expect(annotations).toMatchObject([{ url_citation: { chunk_id: 'chunk-office', quote } }]);
      expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { completion_tokens: expect.any(Number) } });
    });

    it('stops before a stop string', async () => {
      const { choices } = await complete({ messages: question, documents, stop: [' opens'] });
      expect(choices[0]).toMatchObject({
        message: { content: 'The office in Lisbon' },
        finish_reason: 'stop',
      });
    });

    it('writes the same answer for the same seed, and another for another', async () => {
      const body = { messages: 'Once', temperature: 1.5, max_tokens: 24, ignore_eos: true };
      const text = async (seed: number) => (await complete({ ...body, seed })).choices[0]?.message.content;
      const first = await text(7);
      expect(await text(7)).toBe(first);
      expect(await text(8)).not.toBe(first);
    });

    it('writes n answers', async () => {
      const body = { messages: question, documents, n: 3, temperature: 1.5, seed: 5 };
      const { choices } = await complete(body);
      expect(choices.map(({ index }) => index)).toEqual([0, 1, 2]);
      for (const { message } of choices) expect(message.content).toBe(answer);
    });

    it('reports log probabilities', async () => {
      const body = { messages: 'Once', max_tokens: 4, ignore_eos: true, logprobs: true, top_logprobs: 2 };
      const { choices } = await complete(body);
      expect(choices[0]?.logprobs?.content).toHaveLength(4);
      expect(choices[0]?.logprobs?.content[0]?.top_logprobs).toHaveLength(2);
      const grounded = await complete({
        ...body,
        messages: question,
        documents,
        max_tokens: 100,
        ignore_eos: false,
      });
      const tokens = grounded.choices[0]?.logprobs?.content.map(({ token }) => token).join('');
      expect(tokens).toBe(answer);
    });

    it.each([
      [{}, 'messages'],
      [{ messages: [] }, 'messages'],
      [
        {
          messages: [
            { role: 'user', content: 'a' },
            { role: 'alien', content: 'b' },
          ],
        },
        'messages[1].role',
      ],
      [{ query: '' }, 'query'],
      [{ query: 'a', documents: [1] }, 'documents[0]'],
      [{ query: 'a', max_new_tokens: 0 }, 'max_new_tokens'],
      [{ messages: 'a', max_tokens: 0 }, 'max_tokens'],
      [{ messages: 'a', temperature: 3 }, 'temperature'],
      [{ messages: 'a', top_p: -0.1 }, 'top_p'],
      [{ messages: 'a', max_tokens: -2 }, 'max_tokens'],
      [{ messages: 'a', logit_bias: { 999999: 1 } }, 'logit_bias.999999'],
    ])('names the field of %j', async (body, param) => {
      const response = await send(body);
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({ error: { param, type: 'invalid_request_error' } });
    });

    it('answers whatever model is named, and says that the name has no effect', async () => {
      const response = await send({ messages: 'Once', model: 'gpt-4o', max_tokens: 1 });
      expect(response.status).toBe(200);
      expect(response.headers.get('x-meganest-ignored')).toBe('model');
      await response.text();
    });

    it('names the fields that it does not use', async () => {
      const response = await send({ messages: 'Once', max_tokens: 1, k: 4 });
      expect(response.headers.get('x-meganest-ignored')).toBe('k');
      await response.text();
    });

    it('lists its model', async () => {
      const response = await fetch(`${service.url}/v1/models`);
      expect(await response.json()).toMatchObject({ object: 'list', data: [{ id: 'nano-chat' }] });
    });

    it('tells the latency of the first token', async () => {
      const response = await fetch(`${service.url}/v1/statistics`);
      const statistics = (await response.json()) as Record<string, Record<string, number>>;
      const { p50_latency, p50_latency_first_token } = statistics['opea_service@llm/generate'] ?? {};
      expect(p50_latency_first_token).toBeGreaterThan(0);
      expect(p50_latency_first_token).toBeLessThanOrEqual(p50_latency!);
    });
  });
});
