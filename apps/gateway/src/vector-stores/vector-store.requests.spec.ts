import { parseOrThrow } from '#platform/contracts';
import { describe, expect, it } from 'vitest';
import {
  chunkingStrategySchema,
  chunkTokensOf,
  chunkWordsOf,
  searchSchema,
} from './vector-store.requests.js';

const profile = { chunkSize: 90, chunkOverlap: 15 };
const staticOf = (max_chunk_size_tokens: number, chunk_overlap_tokens: number) => ({
  type: 'static' as const,
  static: { max_chunk_size_tokens, chunk_overlap_tokens },
});

describe('chunking strategies', () => {
  it('auto is what the profile wants, there and back', () => {
    const tokens = chunkTokensOf({ type: 'auto' }, profile);
    expect(tokens).toEqual({ chunkTokens: 120, overlapTokens: 20 });
    expect(chunkTokensOf(undefined, profile)).toEqual(tokens);
    expect(chunkWordsOf(tokens)).toEqual({ chunk_size: 90, chunk_overlap: 15 });
  });

  it('static is what was asked for', () => {
    const tokens = chunkTokensOf(parseOrThrow(chunkingStrategySchema, staticOf(800, 400)), profile);
    expect(chunkWordsOf(tokens)).toEqual({ chunk_size: 600, chunk_overlap: 300 });
  });

  it.each([
    [staticOf(99, 0), 'static.max_chunk_size_tokens'],
    [staticOf(4_097, 0), 'static.max_chunk_size_tokens'],
    [staticOf(200, 101), 'static.chunk_overlap_tokens'],
    [{ type: 'other' }, 'type'],
  ])('refuses %j at %s', (strategy, param) => {
    expect(() => parseOrThrow(chunkingStrategySchema, strategy)).toThrow(expect.objectContaining({ param }));
  });
});

it('takes null as unset in a search, as LiteLLM sends it', () => {
  const unset = { rewrite_query: null, max_num_results: null, filters: null, ranking_options: null };
  const { filters: _filters, ...search } = parseOrThrow(searchSchema, { query: 'a', ...unset });
  expect(search).toEqual(parseOrThrow(searchSchema, { query: 'a' }));
});
