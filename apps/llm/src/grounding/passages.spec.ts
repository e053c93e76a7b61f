import { describe, expect, it } from 'vitest';
import { evidenceTokens, fitPassages, passagesWithin, selectPassages } from './passages.js';

describe('selectPassages', () => {
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

describe('evidenceTokens', () => {
  it.each([
    [131_072, 16_384],
    [32_768, 4_096],
    [8_192, 3_000],
    [2_048, 1_228],
  ])('is for a window of %i tokens %i', (window, tokens) => expect(evidenceTokens(window)).toBe(tokens));
});

describe('fitPassages', () => {
  const documents = ['a b c', 'd e', 'f'].map((text, index) => ({
    id: `d${index}`,
    text,
    score: 1,
    metadata: {},
  }));
  const words = (texts: readonly { text: string }[]) =>
    texts
      .map(({ text }) => text)
      .join(' ')
      .split(' ').length;

  it.each([
    ['blocks', 6, ['a b c', 'd e', 'f']],
    ['blocks', 4, ['a b c']],
    ['lines', 6, ['a b c', 'd e', 'f']],
  ] as const)('keeps the first passages that fit as %s into %i words', async (context, max, texts) => {
    const settings = { context, maxPassages: 9 };
    const passages = await fitPassages(
      500,
      (tokens) => passagesWithin(tokens, { documents, question: '' }, settings),
      (shown) => Promise.resolve(words(shown) - max),
    );
    expect(passages.map(({ text }) => text)).toEqual(texts);
  });

  it('cuts a passage that is longer than the limit, and keeps a word of it', async () => {
    const long = [{ ...documents[0]!, text: 'word '.repeat(400).trim() }];
    const fit = (max: number) =>
      fitPassages(
        1_000,
        (tokens) =>
          passagesWithin(tokens, { documents: long, question: '' }, { context: 'blocks', maxPassages: 9 }),
        (shown) => Promise.resolve(words(shown) - max),
      );
    expect(words(await fit(50))).toBeLessThanOrEqual(50);
    expect(words(await fit(50))).toBeGreaterThan(10);
    expect(words(await fit(-1))).toBe(1);
  });
});
