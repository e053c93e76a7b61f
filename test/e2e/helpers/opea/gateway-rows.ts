import { allServices, type ServiceName } from '#platform/testing';
import { expect } from 'vitest';
import { completion, error, number, passages, question, text, wrongMethod, type Row } from './row.js';

export const listings: Row[] = [
  {
    service: 'gateway',
    path: '/v1/list_service',
    form: 'specification',
    answer: { '/v1/chatqna': expect.stringContaining('curl') as string },
  },
  {
    service: 'gateway',
    path: '/v1/list_service?verbose=true',
    form: 'verbose',
    answer: { services: expect.any(Array) as unknown },
  },
  {
    service: 'gateway',
    path: '/v1/list_service',
    form: 'wrong method',
    method: 'POST',
    status: 405,
    answer: { error: 'Retrieve service name wrongly.' },
  },
  {
    service: 'gateway',
    path: '/v1/list_parameters',
    form: 'specification',
    answer: {
      llm: { max_tokens: 'integer', temperature: 'number' },
      retrieval: { k: 'integer', search_type: 'string' },
    },
  },
  {
    service: 'gateway',
    path: '/v1/list_parameters',
    form: 'wrong method',
    method: 'DELETE',
    status: 405,
    answer: { error: 'Retrieve configurable parameter wrongly.' },
  },
];

/** What clients of the servers below the reference send to the gateway. */
export const enginesRows: Row[] = [
  {
    service: 'gateway',
    path: '/rerank',
    form: 'TEI',
    body: { query: question, texts: passages, return_text: true },
    answer: [{ index: 0, score: number, text: passages[0] }, { index: 1 }],
  },
  {
    service: 'gateway',
    path: '/rerank',
    form: 'Cohere',
    body: { query: question, documents: passages },
    answer: { results: [{ index: 0, relevance_score: number }, {}] },
  },
  {
    service: 'gateway',
    path: '/rerank',
    form: 'neither texts nor documents',
    body: { query: question },
    status: 400,
    answer: error('texts'),
  },
  {
    service: 'gateway',
    path: '/v3/chat/completions',
    form: 'OpenVINO Model Server',
    body: { messages: [{ role: 'user', content: question }], max_tokens: 8 },
    answer: completion,
  },
  { service: 'gateway', path: '/v3/models', form: 'OpenVINO Model Server', answer: { object: 'list' } },
  ...[
    ['/v1/embeddings', 'The request of getting embedding vector fails.'],
    ['/v1/chat/completions', 'The request of LLM generation fails.'],
    ['/v1/asr', 'The request of ASR fails.'],
  ].map(([path = '', said]) => ({
    service: 'gateway' as const,
    path,
    form: 'wrong method',
    method: 'PUT',
    status: 405,
    answer: { error: said },
  })),
];

export const chat = { messages: question, stream: false, max_tokens: 8 };
export const chatRows: Row[] = [
  {
    service: 'gateway',
    path: '/v1/chat/completions',
    form: 'OpenAI, no model',
    body: chat,
    answer: completion,
  },
  {
    service: 'gateway',
    path: '/v1/chat/completions',
    form: 'reference parameters',
    body: {
      ...chat,
      k: 4,
      fetch_k: 20,
      search_type: 'mmr',
      score_threshold: 0.2,
      lambda_mult: 0.5,
      top_n: 1,
    },
    answer: completion,
  },
  {
    service: 'gateway',
    path: '/v1/chat/completions',
    form: 'chat_template',
    body: { ...chat, chat_template: '{context} {question}' },
    answer: completion,
  },
  { service: 'gateway', path: '/v1/chatqna', form: 'reference', body: chat, answer: completion },
  {
    service: 'gateway',
    path: '/v1/chat/completions',
    form: 'k of 0',
    body: { ...chat, k: 0 },
    status: 400,
    answer: error('k'),
  },
  {
    service: 'gateway',
    path: '/v1/chat/completions',
    form: 'unknown model',
    body: { ...chat, model: 'none' },
    status: 404,
    answer: error('model', 'model_not_found'),
  },
  { service: 'gateway', path: '/v1/chatqna', form: 'wrong method', status: 405, answer: wrongMethod },
];

export const retrievalRows: Row[] = [
  {
    service: 'retrieval',
    path: '/v1/rag_retrieval',
    form: 'specification',
    body: { text: question },
    answer: {
      retrieved_docs: expect.arrayContaining([text]) as unknown,
      initial_query: question,
      json_encoders: expect.any(Array) as unknown,
    },
  },
  {
    service: 'retrieval',
    path: '/v1/rag_retrieval',
    form: 'json_encoders echoed',
    body: { text: question, json_encoders: [{ text: 'a' }] },
    answer: { json_encoders: [{ text: 'a' }] },
  },
  {
    service: 'retrieval',
    path: '/v1/retrieval',
    form: 'reference {text}',
    body: { text: question, k: 1 },
    answer: { retrieved_docs: [{ id: text, text: text, metadata: {} }], initial_query: question },
  },
  {
    service: 'retrieval',
    path: '/v1/retrieval',
    form: 'reference {input}',
    body: { input: question, search_type: 'lexical' },
    answer: { retrieved_docs: [{ text: passages[0] }] },
  },
  {
    service: 'retrieval',
    path: '/v1/retrieval',
    form: 'no text',
    body: {},
    status: 400,
    answer: error('text'),
  },
  {
    service: 'retrieval',
    path: '/v1/retrieval',
    form: 'unknown search_type',
    body: { text: 'a', search_type: 'magic' },
    status: 400,
    answer: error('search_type'),
  },
];

export const dataprepRows: Row[] = ['dataprep', 'gateway'].flatMap((name) => {
  const service = name as ServiceName;
  return [
    ...['get', 'get_file'].map((call) => ({
      service,
      path: `/v1/dataprep/${call}`,
      form: 'reference',
      body: {},
      answer: expect.arrayContaining([
        expect.objectContaining({ name: 'ferry.txt', type: 'File' }),
      ]) as unknown,
    })),
    { service, path: '/v1/dataprep/indices', form: 'reference', body: {}, answer: ['default'] },
    {
      service,
      path: '/v1/dataprep/reembed',
      form: 'nothing to embed',
      body: {},
      status: 202,
      answer: { running: false, left: 0, problems: [] },
    },
    {
      service,
      path: '/v1/dataprep/delete',
      form: 'unknown file',
      body: { file_path: 'none.txt' },
      status: 404,
      answer: { error: { code: 'not_found' } },
    },
    {
      service,
      path: '/v1/dataprep/delete',
      form: 'no file',
      body: {},
      status: 400,
      answer: error('file_path'),
    },
    {
      service,
      path: '/v1/dataprep/ingest',
      form: 'nothing to ingest',
      body: {},
      status: 400,
      answer: { error: { code: text } },
    },
  ];
});

export const everywhere: Row[] = allServices.flatMap((service) => [
  {
    service,
    path: '/v1/health_check',
    form: 'reference',
    answer: { 'Service Title': text, 'Service Version': text, 'Service Description': text },
  },
  { service, path: '/health', form: 'reference', answer: { status: 'healthy' } },
  { service, path: '/live', form: 'Kubernetes', answer: { status: 'alive' } },
  { service, path: '/ready', form: 'Kubernetes', answer: { status: 'ready' } },
  { service, path: '/v1/statistics', form: 'reference', answer: {} },
]);
