import { describe, expect, it } from 'vitest';
import { selectPassages } from './select-passages.js';

const documents = ['One two three. Four five six.', 'Seven eight. Nine ten.', 'Eleven.'].map(
  (text, index) => ({
    id: `d${index + 1}`,
    text,
    score: 1,
    metadata: {},
  }),
);

const select = (maxPassages: number, maxContextWords: number, from = documents) =>
  selectPassages(from, { maxPassages, maxContextWords }).map(({ number, documentId, text }) => [
    number,
    documentId,
    text,
  ]);

describe('selectPassages', () => {
  it('takes whole passages in order', () => {
    expect(select(2, 100)).toEqual([
      [1, 'd1', 'One two three. Four five six.'],
      [2, 'd2', 'Seven eight. Nine ten.'],
    ]);
  });

  it('cuts the last one at the end of a sentence', () => {
    expect(select(3, 9)).toEqual([
      [1, 'd1', 'One two three. Four five six.'],
      [2, 'd2', 'Seven eight.'],
    ]);
    // No sentence of the second fits, and the third does not jump the queue.
    expect(select(3, 7)).toEqual([[1, 'd1', 'One two three. Four five six.']]);
  });

  it('always takes something of the first', () => {
    expect(select(3, 2)).toEqual([[1, 'd1', 'One two']]);
  });

  it('skips documents without text', () => {
    const blank = { id: 'blank', text: ' \n', score: 1, metadata: {} };
    expect(select(1, 9, [blank, ...documents])).toEqual([[1, 'd1', 'One two three. Four five six.']]);
    expect(select(1, 9, [blank])).toEqual([]);
  });
});
