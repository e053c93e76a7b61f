import { describe, expect, it } from 'vitest';
import { retrievalRequestSchema } from './retrieval.controller.js';

const paths = (body: unknown) =>
  retrievalRequestSchema.safeParse(body).error?.issues.map((issue) => issue.path.join('.'));

describe('retrievalRequestSchema', () => {
  it('takes the bodies of the specification and of the reference', () => {
    const embedding = Float32Array.of(1, 2);
    expect(retrievalRequestSchema.parse({ text: 'q', embedding: [1, 2] })).toEqual({ text: 'q', embedding });
    const reference = { input: 'q', embedding: [1, 2], k: 4, search_type: 'mmr', distance_threshold: null };
    expect(retrievalRequestSchema.parse(reference)).toEqual({
      text: 'q',
      embedding,
      k: 4,
      search_type: 'mmr',
    });
  });

  it("takes an embedding service's reply, and an empty list as none", () => {
    const reply = { object: 'list', data: [{ object: 'embedding', index: 0, embedding: [1, 2] }] };
    expect(retrievalRequestSchema.parse({ text: 'q', embedding: reply }).embedding).toEqual(
      Float32Array.of(1, 2),
    );
    expect(retrievalRequestSchema.parse({ text: 'q', embedding: [] }).embedding).toBeUndefined();
  });

  it('names the field at fault', () => {
    expect(paths({})).toEqual(['text']);
    expect(paths('text')).toEqual(['']);
    expect(paths({ text: '' })).toEqual(['text']);
    expect(paths({ input: 3 })).toEqual(['input']);
    expect(paths({ text: 'q', fetch_k: 0 })).toEqual(['fetch_k']);
    expect(paths({ text: 'q', embedding: ['1'] })).toEqual(['embedding']);
  });
});
