import { completion, embeddings, error, number, passages, question, text, vector, type Row } from './row.js';

export const embeddingRows: Row[] = [
  {
    service: 'embedding',
    path: '/v1/embeddings',
    form: 'specification',
    body: { input: question },
    answer: embeddings,
  },
  {
    service: 'embedding',
    path: '/v1/embeddings',
    form: 'list',
    body: { input: passages },
    answer: { data: [{ index: 0 }, { index: 1 }] },
  },
  {
    service: 'embedding',
    path: '/v1/embeddings',
    form: 'tokens',
    body: { input: [101, 102] },
    answer: embeddings,
  },
  {
    service: 'embedding',
    path: '/v1/embeddings',
    form: 'token arrays',
    body: { input: [[101], [102]] },
    answer: { data: [{}, {}] },
  },
  {
    service: 'embedding',
    path: '/v1/embeddings',
    form: 'base64',
    body: { input: question, encoding_format: 'base64' },
    answer: { data: [{ embedding: text }] },
  },
  {
    service: 'embedding',
    path: '/v1/embeddings',
    form: 'reference {text}',
    body: { text: question },
    answer: embeddings,
  },
  {
    service: 'embedding',
    path: '/v1/embeddings',
    form: 'reference {text}, empty',
    body: { text: [] },
    status: 400,
    answer: error('text'),
  },
  {
    service: 'gateway',
    path: '/v1/embeddings',
    form: 'reference {text}',
    body: { text: question },
    answer: embeddings,
  },
  { service: 'embedding', path: '/embed', form: 'TEI', body: { inputs: question }, answer: [vector] },
  {
    service: 'embedding',
    path: '/v1/embeddings',
    form: 'no input',
    body: {},
    status: 400,
    answer: error('input'),
  },
  {
    service: 'embedding',
    path: '/v1/embeddings',
    form: 'too many dimensions',
    body: { input: 'a', dimensions: 9_999 },
    status: 400,
    answer: error('dimensions'),
  },
  {
    service: 'embedding',
    path: '/v1/embeddings',
    form: 'wrong method',
    status: 405,
    answer: { error: 'The request of getting embedding vector fails.' },
  },
];

export const llmBodies: [string, unknown][] = [
  ['specification: message', { message: question }],
  ['messages as text', { messages: question }],
  ['messages', { messages: [{ role: 'user', content: question }] }],
  [
    'reference {query, documents}',
    { query: question, documents: passages, max_new_tokens: 8, streaming: false },
  ],
  [
    'reference {initial_query, retrieved_docs}',
    { initial_query: question, retrieved_docs: passages.map((passage) => ({ text: passage })) },
  ],
];
export const llmRows: Row[] = [
  ...llmBodies.map(([form, body]) => ({
    service: 'llm' as const,
    path: '/v1/chat/completions',
    form,
    body: { max_tokens: 8, ...(body as object) },
    answer: completion,
  })),
  {
    service: 'llm',
    path: '/v1/chat/completions',
    form: 'the name of a model of another engine',
    body: { messages: question, max_tokens: 8, model: 'meta-llama/Meta-Llama-3-8B-Instruct' },
    answer: completion,
  },
  {
    service: 'llm',
    path: '/v1/chat/completions',
    form: 'no messages',
    body: {},
    status: 400,
    answer: error('messages'),
  },
  {
    service: 'llm',
    path: '/v1/chat/completions',
    form: 'max_tokens of 0',
    body: { message: 'a', max_tokens: 0 },
    status: 400,
    answer: error('max_tokens'),
  },
];

export const ranked = {
  initial_query: question,
  retrieved_docs: passages.toReversed().map((passage) => ({ text: passage })),
};
export const rerankingRows: Row[] = [
  {
    service: 'reranking',
    path: '/v1/rag_reranking',
    form: 'specification',
    body: { ...ranked, top_n: 1, json_encoders: [] },
    answer: { query: question, doc: [{ text: passages[0] }] },
  },
  {
    service: 'reranking',
    path: '/v1/rag_reranking',
    form: 'documents as texts',
    body: { ...ranked, retrieved_docs: passages, top_n: 2 },
    answer: { doc: [{ text: passages[0] }, {}] },
  },
  {
    service: 'reranking',
    path: '/v1/reranking',
    form: 'reference',
    body: { ...ranked, top_n: 1 },
    answer: {
      query: question,
      documents: [passages[0]],
      reranked_docs: [{ text: passages[0], score: number }],
    },
  },
  {
    service: 'reranking',
    path: '/v1/reranking',
    form: 'reference {input}, one passage by default',
    body: { input: question, retrieved_docs: passages },
    answer: { documents: [passages[0]] },
  },
  {
    service: 'reranking',
    path: '/v1/reranking',
    form: 'the sample of the reference',
    body: {
      initial_query: 'What is Deep Learning?',
      retrieved_docs: [{ text: 'Deep Learning is not...' }, { text: 'Deep learning is...' }],
    },
    answer: { reranked_docs: [{ text: 'Deep learning is...', score: number }] },
  },
  {
    service: 'reranking',
    path: '/rerank',
    form: 'TEI',
    body: { query: question, texts: passages },
    answer: [{ index: 0, score: number }, { index: 1 }],
  },
  {
    service: 'reranking',
    path: '/rerank',
    form: 'Cohere',
    body: { query: question, documents: passages },
    answer: { results: [{ index: 0, relevance_score: number }, {}] },
  },
  {
    service: 'reranking',
    path: '/v1/reranking',
    form: 'no query',
    body: { retrieved_docs: passages },
    status: 400,
    answer: error('initial_query'),
  },
  {
    service: 'reranking',
    path: '/rerank',
    form: 'no texts',
    body: { query: question },
    status: 400,
    answer: error('texts'),
  },
];
