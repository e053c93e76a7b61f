import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot, startStack, type TestStack } from '#platform/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

/**
 * Requests of the READMEs of OPEA's components with the values that they send: texts in place of numbers and booleans, names of
 * the reference's models, and values that MegaNest does not serve, which the header names.
 */

interface ReadmeRequest {
  service: Parameters<TestStack['service']>[0];
  path: string;
  body?: object;
  form?: Record<string, string | Blob>;
  urlencoded?: Record<string, string>;
  /** The value of `x-meganest-ignored`. */
  ignored?: string | null;
  answer?: object;
}

const recording = new Blob([readFileSync(join(repositoryRoot, 'test/fixtures/asr/question.wav'))]);
const nike = () => new File(['Nike had 83,700 employees in 2023.'], 'nike.txt');
const initial_query = 'What is Deep Learning?';
const retrieved_docs = [{ text: 'Deep Learning is not...' }, { text: 'Deep learning is...' }];
const messages = 'How many employees had Nike?';

const ingests: Omit<ReadmeRequest, 'service'>[] = [
  {
    path: '/v1/dataprep/ingest',
    form: {
      files: nike(),
      process_table: 'false',
      table_strategy: 'fast',
      chunk_size: '1500',
      chunk_overlap: '100',
    },
    ignored: 'process_table',
  },
  {
    path: '/v1/dataprep/ingest',
    form: { files: nike(), process_table: 'true', table_strategy: 'hq', index_name: 'test_redis' },
    ignored: 'table_strategy',
  },
  {
    path: '/v1/dataprep/ingest',
    urlencoded: { text: 'Adidas had 59,000.', filename: 'a.txt' },
    ignored: null,
  },
  {
    path: '/v1/dataprep/get',
    body: { index_name: 'all' },
    answer: expect.arrayContaining([
      expect.objectContaining({ name: 'nike.txt', collection: 'default' }),
      expect.objectContaining({ name: 'nike.txt', collection: 'test_redis' }),
    ]) as object,
  },
];
const audio: Omit<ReadmeRequest, 'service'>[] = [
  { path: '/v1/audio/speech', body: { input: 'Who are you?', voice: 'male' }, ignored: null },
  {
    path: '/v1/audio/speech',
    body: { input: 'Who are you?', voice: 'default', speed: '1.0' },
    ignored: null,
  },
  {
    path: '/v1/tts',
    body: { text: 'Who are you?' },
    answer: { tts_result: expect.stringMatching(/^UklGR/) },
  },
];

const requests: ReadmeRequest[] = [
  ...ingests.map((request) => ({ service: 'dataprep' as const, ...request })),
  ...ingests.map((request) => ({ service: 'gateway' as const, ...request })),
  ...audio.map((request) => ({ service: 'tts' as const, ...request })),
  ...audio.map((request) => ({ service: 'gateway' as const, ...request })),
  {
    service: 'tts',
    path: '/v1/audio/speech',
    body: { input: 'Hi.', model: 'microsoft/speecht5_tts' },
    ignored: 'model',
  },
  {
    service: 'asr',
    path: '/v1/audio/transcriptions',
    form: { file: recording, model: 'openai/whisper-small', stream: 'False' },
    ignored: 'model',
    answer: { text: expect.any(String) },
  },
  {
    service: 'embedding',
    path: '/v1/embeddings',
    body: { input: ['Hello, world!', 'How are you?'], dimensions: '100', model: 'BAAI/bge-large-en-v1.5' },
    ignored: 'model',
  },
  {
    service: 'reranking',
    path: '/v1/reranking',
    body: { initial_query, retrieved_docs, top_n: '2', model: 'BAAI/bge-reranker-large' },
    ignored: 'model',
  },
  {
    service: 'reranking',
    path: '/v3/rerank',
    body: { query: 'welcome', documents: ['Deep Learning is not...'], model: 'BAAI/bge-reranker-large' },
    ignored: 'model',
  },
  {
    service: 'retrieval',
    path: '/v1/retrieval',
    body: { text: messages, search_type: 'mmr', k: '4', fetch_k: '20', lambda_mult: '0.5' },
    answer: { search_type: 'mmr' },
  },
  {
    service: 'llm',
    path: '/v1/chat/completions',
    body: {
      messages,
      max_tokens: '17',
      stream: 'false',
      model: 'us.anthropic.claude-3-5-haiku-20241022-v1:0',
    },
    ignored: 'model',
    answer: { object: 'chat.completion' },
  },
  {
    service: 'gateway',
    path: '/v1/chatqna',
    body: { messages, stream: 'false', k: '4', top_n: '1', score_threshold: '0.2', temperature: '0.01' },
    // A quoted answer is not sampled.
    ignored: 'temperature',
    answer: { object: 'chat.completion' },
  },
];

let stack: TestStack;
beforeAll(async () => {
  stack = await startStack();
});
afterAll(() => stack?.stop());

function bodyOf({ body, form, urlencoded }: ReadmeRequest): RequestInit {
  if (urlencoded) return { body: new URLSearchParams(urlencoded) };
  if (!form) return { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
  const data = new FormData();
  for (const [name, value] of Object.entries(form)) {
    if (typeof value === 'string') data.append(name, value);
    else data.append(name, value, value instanceof File ? value.name : 'sample.wav');
  }
  return { body: data };
}

describe("OPEA's READMEs", () => {
  it.each(requests)('$service $path: $body$form$urlencoded', async (request) => {
    const url = stack.service(request.service).url + request.path;
    const response = await fetch(url, { method: 'POST', ...bodyOf(request) });
    const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false;
    const answer: unknown = isJson ? await response.json() : (await response.arrayBuffer()).byteLength;
    const got = { status: response.status, answer, ignored: response.headers.get('x-meganest-ignored') };
    const { answer: wanted = expect.anything() as object, ignored = null } = request;
    expect(got).toMatchObject({ status: 200, answer: wanted, ignored });
  });

  it('streams where the text "true" asks for it', async () => {
    const body = JSON.stringify({ messages, max_tokens: 17, stream: 'true' });
    const headers = { 'content-type': 'application/json' };
    const url = `${stack.service('llm').url}/v1/chat/completions`;
    const response = await fetch(url, { method: 'POST', headers, body });
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    expect(await response.text()).toContain('data: [DONE]');
  });

  it.each(['/v1/chat/completions', '/v1/embeddings'])('%s takes JSON only', async (path) => {
    const body = new URLSearchParams({ input: 'x' });
    const response = await fetch(stack.service('gateway').url + path, { method: 'POST', body });
    expect(response.status).toBe(415);
    expect(await response.text()).toContain('application/json');
  });
});
