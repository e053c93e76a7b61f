import {
  embed,
  encodeVectors,
  MegaNestError,
  rerank,
  retrieve,
  type RetrievedDocument,
} from '#platform/contracts';
import type { RpcClient } from '#platform/messaging';
import type {
  StoredVectorStoreFile,
  VectorStoreFilesRepository,
  VectorStoresRepository,
} from '#platform/storage';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { rewriteQuery } from './rewrite-query.js';
import {
  fallingScores,
  mergeRankings,
  retrievalParametersOf,
  searchRelevance,
  VectorStoreSearch,
  type StoreSearch,
} from './vector-store-search.js';

const passage = (id: string, more: Partial<RetrievedDocument> = {}): RetrievedDocument => ({
  id,
  text: id,
  score: 3,
  metadata: {},
  ...more,
});
const ranking = (...entries: [string, number][]) =>
  entries.map(([id, score]) => ({ passage: passage(id), score }));
const told = (ranked: ReturnType<typeof fallingScores>) =>
  ranked.map(({ passage: { id }, score }) => [id, score]);
const options = { ranker: 'auto', score_threshold: 0 } as const;

describe('retrievalParametersOf', () => {
  it('leaves the search to the profile, with enough for a reranker', () => {
    expect(retrievalParametersOf(options, 3)).toEqual({ k: 20, fetch_k: 40 });
    expect(retrievalParametersOf(options, 50)).toEqual({ k: 50, fetch_k: 100 });
  });

  it.each([
    [
      { embedding_weight: 3, text_weight: 2 },
      { search_type: 'hybrid', similarity_factor: 1.5 },
    ],
    [{ embedding_weight: 1, text_weight: 0 }, { search_type: 'similarity' }],
    [{ embedding_weight: 0, text_weight: 1 }, { search_type: 'lexical' }],
    [
      { embedding_weight: 1, text_weight: 1e-9 },
      { search_type: 'hybrid', similarity_factor: 100 },
    ],
  ])('turns weights %j into a search', (hybrid_search, expected) => {
    const parameters = retrievalParametersOf({ ...options, hybrid_search }, 10);
    expect(parameters).toMatchObject(expected);
    expect(parameters).not.toHaveProperty('hybrid_fusion');
  });
});

describe('relevance', () => {
  it('is the similarity, or a squeezed BM25 where only words were searched', () => {
    expect(searchRelevance(passage('a', { similarity: 0.4 }), 'hybrid')).toBe(0.4);
    expect(searchRelevance(passage('a', { similarity: -0.1 }), 'similarity')).toBe(0);
    expect(searchRelevance(passage('a'), 'hybrid')).toBe(0);
    expect(searchRelevance(passage('a'), 'lexical')).toBe(0.75);
  });

  it('falls with the ranking', () => {
    expect(told(fallingScores(ranking(['a', 0.2], ['b', 0.9], ['c', 0.1], ['d', 0.3])))).toEqual([
      ['a', 0.9],
      ['b', 0.9],
      ['c', 0.3],
      ['d', 0.3],
    ]);
    expect(fallingScores([])).toEqual([]);
  });

  it('of several queries counts once, at its best', () => {
    const merged = mergeRankings([ranking(['a', 0.5], ['b', 0.1]), ranking(['b', 0.8], ['c', 0.2])]);
    expect(told(merged)).toEqual([
      ['b', 0.8],
      ['a', 0.5],
      ['c', 0.2],
    ]);
  });
});

describe('a search', () => {
  /** A search over services that answer, or throw, what the methods of `replies` say. */
  function searchOver(replies: Record<string, (request: never) => unknown>) {
    const request = async ({ method }: { method: string }, asked: never) => replies[method]?.(asked);
    const files = new Map([['d', { vectorStoreId: 'vs' } as StoredVectorStoreFile]]);
    const search = new VectorStoreSearch(
      { request } as unknown as RpcClient,
      { touch: () => Promise.resolve() } as unknown as VectorStoresRepository,
      { findByDocuments: () => Promise.resolve(files) } as unknown as VectorStoreFilesRepository,
    );
    const asked = { owner: 'me', storeIds: ['vs'], queries: ['one', 'two'], maxResults: 5 };
    const call = { deadline: Date.now() + 60_000 };
    return (ranker: 'auto' | 'none', changes: Partial<StoreSearch> = {}) =>
      search.search({ ...asked, ...changes, ranking: { ranker, score_threshold: 0 } }, call);
  }

  const found = passage('a', { metadata: { document_id: 'd' }, similarity: 0.5 });
  const vectors = [Float32Array.of(1, 0), Float32Array.of(0, 1)];
  const working = {
    [embed.method]: () => ({ vectors: encodeVectors(vectors), dimensions: 2 }),
    [retrieve.method]: () => ({ documents: [found], searchType: 'hybrid' }),
    [rerank.method]: () => ({ results: [{ index: 0, score: 0.9 }] }),
  };
  const ofOtherModel = {
    [retrieve.method]: () => ({
      documents: [found],
      searchType: 'lexical',
      degraded: 'embedding_model_changed',
    }),
  };
  const withoutRanker = {
    [rerank.method]: () => {
      throw new MegaNestError('service_unavailable', { service: 'reranking' });
    },
  };

  it.each([
    ['nothing where every step worked', {}, 'auto', [], 0.9],
    ['the words that were searched', ofOtherModel, 'auto', ['retrieval'], 0.9],
    ['the reranking that failed', withoutRanker, 'auto', ['reranking'], 0.5],
    ['both', { ...ofOtherModel, ...withoutRanker }, 'auto', ['retrieval', 'reranking'], 0.75],
    ['no reranking that the caller did not want', withoutRanker, 'none', [], 0.5],
  ] as const)('names %s', async (_what, changes, ranker, degraded, score) => {
    const result = await searchOver({ ...working, ...changes })(ranker);
    expect(result).toMatchObject({ found: [{ passage: { id: 'a' }, score }], degraded });
    expect(result.degraded).toHaveLength(degraded.length);
  });

  it('cuts a long query for every step, and says so', async () => {
    const searched: unknown[] = [];
    const replies = {
      ...working,
      [retrieve.method]: (request: { query: string }) => {
        searched.push(request.query.length);
        return { documents: [found], searchType: 'hybrid' };
      },
    };
    const { degraded } = await searchOver(replies)('auto', { queries: ['word '.repeat(1_000_000)] });
    expect(searched).toEqual([8_000]);
    expect(degraded).toEqual(['query']);
  });
});

describe('rewriteQuery', () => {
  it.each([
    ['Hi, could you please tell me what the engine runs on? Thanks!', 'what the engine runs on?'],
    ["Hello there! I'd like to know the height of the tower.", 'the height of the tower'],
    ['Do you know how many cogs the clock has?', 'how many cogs the clock has?'],
    [
      'Hallo, können Sie mir bitte sagen, wie viele Zahnräder die Uhr hat?',
      'wie viele Zahnräder die Uhr hat?',
    ],
    ['plum juice', 'plum juice'],
    ['thanksgiving opening hours', 'thanksgiving opening hours'],
    ['Hello, please. Thanks!', 'Hello, please. Thanks!'],
  ])('makes %j %j', (query, rewritten) => {
    expect(rewriteQuery(query)).toBe(rewritten);
  });

  it('never leaves nothing to search for, and keeps every word of the subject', () => {
    expect.hasAssertions();
    const word = fc.constantFrom(
      'hi',
      'please',
      'thanks',
      'tell me',
      'engine',
      '?',
      ',',
      'do you know',
      'cogs',
    );
    fc.assert(
      fc.property(
        fc.array(word, { minLength: 1 }).map((words) => words.join(' ')),
        (query) => {
          expect(rewriteQuery(query).trim()).not.toBe('');
          const subjects = (text: string) => text.match(/engine|cogs/g) ?? [];
          expect(subjects(rewriteQuery(query))).toEqual(subjects(query));
        },
      ),
    );
  });
});
