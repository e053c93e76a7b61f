import { describe, expect, it } from 'vitest';
import { sharedPhrases } from './phrases.js';

describe('sharedPhrases', () => {
  it('counts neighboring words by their stems, across stop words', () => {
    const query = 'Who founded the Free University of Brussels?';
    const texts = [
      'The Free University of Brussels was founded in 1834.',
      'A university that is free of charge; Brussels has two.',
      'free universities, FREE UNIVERSITY',
      'University',
      '',
    ];
    expect(sharedPhrases(query, texts)).toEqual([2, 0, 1, 0, 0]);
  });

  it('finds none for a query of one word', () => {
    expect(sharedPhrases('Brussels', ['Brussels Brussels'])).toEqual([0]);
  });
});
