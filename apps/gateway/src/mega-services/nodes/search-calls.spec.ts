import { encodeVectors, MegaNestError, type RetrievedDocument } from '#platform/contracts';
import { describe, expect, it } from 'vitest';
import type { NodeCall } from '../mega-service-request.js';
import type { WrittenQueries } from '../search/query-writer.js';
import type { SearchPlan } from '../search/search-plan.js';
import { callEmbedding, callReranking, callRetrieval } from './search-calls.js';

const passage = (id: string, score: number): RetrievedDocument => ({
  id,
  text: `text ${id}`,
  score,
  metadata: {},
});

type Requested = Record<string, unknown>;

interface Setting {
  /** Passages by query. */
  found?: Record<string, RetrievedDocument[]>;
  written?: Promise<WrittenQueries>;
  inputs?: Record<string, unknown>;
  plan?: Partial<SearchPlan>;
  retrieves?: boolean;
  fails?: string;
}

function setUp({ found = {}, written, inputs = {}, plan, retrieves = true, fails }: Setting = {}) {
  const requests: { method: string; request: Requested }[] = [];
  const details: Requested = {};
  const writing = written ?? Promise.resolve({ queries: ['first', 'second'] });
  const made: SearchPlan = {
    searches: true,
    asked: { query: 'typed', by: 'user' },
    isCut: false,
    written: writing,
    cited: Promise.resolve({ documents: [], passages: [] }),
    question: writing.then(({ queries }) => queries[0] ?? 'typed'),
    learn: () => undefined,
    stop: () => undefined,
    ...plan,
  };
  const client = {
    request: ({ method }: { method: string }, request: Requested) => {
      requests.push({ method, request });
      if (method === fails)
        return Promise.reject(new MegaNestError('service_unavailable', { service: method, detail: '' }));
      if (method === 'embed') {
        const vectors = (request['inputs'] as string[]).map((text) => Float32Array.of(text.length, 0));
        return Promise.resolve({
          vectors: encodeVectors(vectors),
          dimensions: 2,
          model: 'm',
          promptTokens: 1,
        });
      }
      if (method === 'rerank') return Promise.resolve({ results: [{ index: 0, score: 1 }], model: 'm' });
      return Promise.resolve({ documents: found[String(request['query'])] ?? [], searchType: 'hybrid' });
    },
  };
  const call = {
    client,
    context: { inputs, parameters: { k: 3 }, report: (more: Requested) => void Object.assign(details, more) },
    request: { retrieves },
    options: {},
    plan: () => made,
    evidence: () => Promise.resolve({ passages: 7, tokens: 100 }),
  } as unknown as NodeCall;
  const of = (method: string) =>
    requests.filter((each) => each.method === method).map(({ request }) => request);
  return { call, made, of, details };
}

const embedding = encodeVectors([Float32Array.of(5, 0)]);

describe('callEmbedding', () => {
  it('embeds the question as typed before a search, without waiting for the model', async () => {
    const { call, of, made } = setUp({ written: new Promise(() => undefined) });
    expect(await callEmbedding(call)).toBe(embedding);
    expect(of('embed')).toEqual([{ input_type: 'query', truncate: true, k: 3, inputs: ['typed'] }]);
    expect(made.embedding).toBeDefined();
  });

  it('embeds the question that stands alone for a search of another service', async () => {
    const { call, of, details } = setUp({ retrieves: false });
    await callEmbedding(call);
    expect(of('embed')).toMatchObject([{ inputs: ['first'] }]);
    expect(details['searched']).toEqual([{ query: 'first', by: 'model' }]);
    const late = setUp({ retrieves: false, written: Promise.resolve({ queries: [], problem: 'empty' }) });
    await callEmbedding(late.call);
    expect(late.of('embed')).toMatchObject([{ inputs: ['typed'] }]);
    expect(late.details['degraded']).toEqual({ search_queries: 'empty' });
  });

  it('embeds nothing for small talk', async () => {
    const { call, of } = setUp({ plan: { asked: undefined } });
    expect(await callEmbedding(call)).toBe('');
    expect(of('embed')).toEqual([]);
  });
});

describe('callRetrieval', () => {
  const found = {
    typed: [passage('a', 10), passage('b', 8)],
    first: [passage('c', 3), passage('a', 2.7)],
    second: [passage('d', 9)],
  };

  it('searches with the question and with the queries of the model, embedded in one call', async () => {
    const { call, of, made, details } = setUp({ found, inputs: { embedding } });
    made.embedding = { truncate: true };
    const documents = await callRetrieval(call);
    expect(of('embed')).toEqual([{ input_type: 'query', truncate: true, inputs: ['first', 'second'] }]);
    expect(of('retrieve')).toMatchObject([
      { k: 3, query: 'typed', embedding },
      { k: 3, query: 'first', embedding },
      { k: 3, query: 'second', embedding: encodeVectors([Float32Array.of(6, 0)]) },
    ]);
    expect(documents.map(({ id }) => id)).toEqual(['c', 'd']);
    expect(details).toMatchObject({
      searchType: 'hybrid',
      searched: [
        { query: 'typed', by: 'user' },
        { query: 'first', by: 'model' },
        { query: 'second', by: 'model' },
      ],
    });
    expect(details).not.toHaveProperty('degraded');
  });

  it('searches once for a query that repeats the question, and lets the question weigh as much as a query', async () => {
    const written = Promise.resolve({ queries: ['What is the Typed?', 'second', 'Second!'] });
    const { call, of } = setUp({ found, written });
    expect((await callRetrieval(call)).map(({ id }) => id)).toEqual(['a', 'd']);
    expect(of('retrieve').map(({ query }) => query)).toEqual(['typed', 'second']);
  });

  it('begins with the question before the model has answered', async () => {
    let resolve: (written: WrittenQueries) => void = () => undefined;
    const promise = new Promise<WrittenQueries>((settle) => (resolve = settle));
    const { call, of } = setUp({ found, written: promise });
    const running = callRetrieval(call);
    await expect.poll(() => of('retrieve')).toHaveLength(1);
    resolve({ queries: [] });
    expect((await running).map(({ id }) => id)).toEqual(['a', 'b']);
  });

  it('embeds no query without an embedding node, and searches by words behind the vectors of another model', async () => {
    const lexical = setUp({ found });
    await callRetrieval(lexical.call);
    expect(lexical.of('embed')).toEqual([]);
    expect(lexical.of('retrieve')[1]).not.toHaveProperty('search_type');
    const foreign = setUp({ found, inputs: { embedding } });
    await callRetrieval(foreign.call);
    expect(foreign.of('embed')).toEqual([]);
    expect(foreign.of('retrieve')[1]).toMatchObject({ query: 'first', search_type: 'lexical' });
  });

  it('keeps the documents of the question where the queries fail, and says so', async () => {
    const { call, made, details } = setUp({ found, fails: 'embed', inputs: { embedding } });
    made.embedding = {};
    expect((await callRetrieval(call)).map(({ id }) => id)).toEqual(['a', 'b']);
    expect(details['degraded']).toEqual({ search_queries: 'service_unavailable' });
    expect(details['searched']).toEqual([{ query: 'typed', by: 'user' }]);
  });

  it('fails where the search for the question fails, without waiting for the model', async () => {
    const { call } = setUp({ fails: 'retrieve', written: new Promise(() => undefined) });
    await expect(callRetrieval(call)).rejects.toMatchObject({ code: 'service_unavailable' });
  });

  it('asks for the cited passages once, and keeps them behind the found ones', async () => {
    const cited = Promise.resolve({ documents: ['doc'], passages: ['z'] });
    const typed = [...found.typed, passage('z', 8)];
    const { call, of } = setUp({ found: { ...found, typed }, plan: { cited } });
    const documents = await callRetrieval(call);
    expect(of('retrieve').map(({ passages }) => passages)).toEqual([['z'], undefined, undefined]);
    expect(of('retrieve').map(({ preferred_documents: documents }) => documents)).toEqual([
      ['doc'],
      ['doc'],
      ['doc'],
    ]);
    expect(documents.map(({ id }) => id)).toContain('z');
  });

  it('searches nothing for small talk without queries', async () => {
    const plan = { asked: undefined };
    const { call, of, details } = setUp({ plan, written: Promise.resolve({ queries: [] }) });
    expect(await callRetrieval(call)).toEqual([]);
    expect(of('retrieve')).toEqual([]);
    expect(details['searched']).toEqual([]);
  });
});

describe('callReranking', () => {
  const inputs = { documents: [passage('a', 1)] };

  it('ranks for the queries of the model, or else for the question', async () => {
    const written = setUp({ inputs });
    await callReranking(written.call);
    expect(written.of('rerank')).toMatchObject([{ query: 'first second', scores: [1], top_n: 7 }]);
    const none = setUp({ inputs, written: Promise.resolve({ queries: [] }) });
    await callReranking(none.call);
    expect(none.of('rerank')).toMatchObject([{ query: 'typed' }]);
  });

  it('ranks nothing without documents', async () => {
    const { call, of } = setUp({ inputs: { documents: [] } });
    expect(await callReranking(call)).toEqual([]);
    expect(of('rerank')).toEqual([]);
  });
});
