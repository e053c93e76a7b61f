import { describe, expect, it } from 'vitest';
import { pageOfQuote } from './documents.js';

describe('pageOfQuote', () => {
  const passage = (metadata: Record<string, unknown>) => ({
    id: '1',
    text: 'On four. On five. On seven.',
    score: 1,
    metadata,
  });

  it.each([
    ['On four.', 4],
    ['On five.', 5],
    ['On seven.', 7],
    ['Nowhere.', 4],
    ['', 4],
  ])('finds %j on page %i', (quote, page) => {
    expect(pageOfQuote(passage({ page: 4, page_breaks: '9:5 18:7' }), quote)).toBe(page);
  });

  it('knows a passage of one page, and one of a document without pages', () => {
    expect(pageOfQuote(passage({ page: 2 }), 'On five.')).toBe(2);
    expect(pageOfQuote(passage({}), 'On five.')).toBeUndefined();
  });
});
