import { describe, expect, it } from 'vitest';
import { decideParameters } from './retrieval.service.js';

const profile = { search_type: 'hybrid', k: 8, fetch_k: 40 } as const;

describe('decideParameters', () => {
  it('takes the profile where nothing is asked for', () => {
    expect(decideParameters({ k: undefined }, profile)).toEqual({
      search_type: 'hybrid',
      k: 8,
      fetch_k: 40,
      lambda_mult: 0.5,
      score_threshold: 0.2,
      hybrid_fusion: 'rrf',
      similarity_weight: 1,
      rank_constant: 60,
    });
    const scored = { ...profile, hybrid_fusion: 'scores', similarity_weight: 8 } as const;
    expect(decideParameters({}, scored)).toMatchObject({ hybrid_fusion: 'scores', similarity_weight: 8 });
    expect(decideParameters({ search_type: 'lexical' }, profile)).toMatchObject({ k: 8, fetch_k: 40 });
  });

  it("takes OPEA's defaults for OPEA's search types", () => {
    expect(decideParameters({ search_type: 'mmr' }, profile)).toMatchObject({ k: 4, fetch_k: 20 });
  });

  it('lets the request win, zero included', () => {
    const given = { search_type: 'mmr', k: 2, lambda_mult: 0, score_threshold: 0 } as const;
    expect(decideParameters(given, profile)).toMatchObject({ ...given, fetch_k: 20 });
  });
});
