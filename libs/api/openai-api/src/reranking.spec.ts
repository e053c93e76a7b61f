import { describe, expect, it } from 'vitest';
import { parseOrThrow } from '#platform/contracts';
import { plainRerankSchema, rerankCall, rerankRequestSchema, rerankResponse } from './reranking.js';

const parse = (body: unknown) => parseOrThrow(rerankRequestSchema, body);
const reply = {
  model: 'm',
  results: [
    { index: 1, score: 0.9 },
    { index: 0, score: 0.1 },
  ],
  promptTokens: 7,
};

describe('rerankRequestSchema', () => {
  it('takes strings and objects with a text', () => {
    const request = parse({ query: 'q', documents: ['a', { text: 'b', id: 3 }] });
    expect(rerankCall(request)).toEqual({
      query: 'q',
      texts: ['a', 'b'],
      model: undefined,
      top_n: 2,
      fusion: 'none',
    });
  });

  it.each([{ model: null, top_n: null, return_documents: null }, { top_n: 0 }])(
    'takes %j as unset',
    (unset) => {
      const documents = ['a', 'b'];
      expect(rerankCall(parse({ query: 'q', documents, ...unset }))).toEqual(
        rerankCall(parse({ query: 'q', documents })),
      );
    },
  );

  it('refuses documents that are too long together, and names their field', () => {
    const texts = Array.from({ length: 1_000 }, () => 'word '.repeat(1_500));
    const refusal = (param: string) =>
      expect.objectContaining({
        status: 400,
        param,
        message: expect.stringContaining('limit of a request is 2000000'),
      });
    expect(() => parse({ query: 'q', documents: texts })).toThrow(refusal('documents'));
    expect(() => parseOrThrow(plainRerankSchema, { query: 'q', texts })).toThrow(refusal('texts'));
    expect(parse({ query: 'q', documents: texts.slice(0, 266) }).documents).toHaveLength(266);
  });

  it('takes null as unset in the format of Text Embeddings Inference', () => {
    const unset = { raw_scores: null, return_text: null, truncate: null, truncation_direction: null };
    const body = { query: 'q', texts: ['a'] };
    expect(parseOrThrow(plainRerankSchema, { ...body, ...unset })).toEqual(
      parseOrThrow(plainRerankSchema, body),
    );
  });

  it.each([
    [{ documents: ['a'] }, 'query'],
    [{ query: 'q', documents: [] }, 'documents'],
    [{ query: 'q', documents: ['a', 5] }, 'documents[1]'],
    [{ query: 'q', documents: ['a'], top_n: -1 }, 'top_n'],
  ])('names the field of %j', (body, param) => {
    expect(() => parse(body)).toThrow(expect.objectContaining({ code: 'invalid_request', param }));
  });
});

describe('rerankResponse', () => {
  const request = parse({ query: 'q', documents: ['a', 'b'] });

  it('returns the documents beside their scores', () => {
    expect(rerankResponse(reply, request, '1')).toEqual({
      id: 'rerank-1',
      model: 'm',
      results: [
        { index: 1, relevance_score: 0.9, document: { text: 'b' } },
        { index: 0, relevance_score: 0.1, document: { text: 'a' } },
      ],
      usage: { prompt_tokens: 7, total_tokens: 7 },
    });
  });

  it('leaves the documents out where the caller declines them', () => {
    const { results } = rerankResponse(reply, { ...request, return_documents: false }, '1');
    expect(results[0]).toEqual({ index: 1, relevance_score: 0.9 });
  });
});
