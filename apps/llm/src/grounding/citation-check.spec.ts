import { describe, expect, it } from 'vitest';
import { CitationCheck, findCitations } from './citation-check.js';
import { passageOf } from './passages.js';

const passages = ['Tea is hot.', 'Ice is cold.'].map((text, index) =>
  passageOf(index + 1, `d${index + 1}`, text),
);

const cited = (answer: string) =>
  findCitations(answer, passages).map(({ quote, documentId, startIndex, endIndex }) => {
    expect(answer.slice(startIndex, endIndex)).toBe(quote);
    return [quote, documentId];
  });

describe('findCitations', () => {
  it('quotes the sentence before each marker', () => {
    expect(cited('Well. Tea is hot [1]. Ice is  very\ncold. [2] The end.')).toEqual([
      ['Tea is hot', 'd1'],
      ['Ice is  very\ncold.', 'd2'],
    ]);
  });

  it('gives one sentence to several markers', () => {
    expect(cited('They differ [1][2].')).toEqual([
      ['They differ', 'd1'],
      ['They differ', 'd2'],
    ]);
    expect(cited('They differ [1, 2].')).toHaveLength(2);
  });

  it('takes list items for sentences', () => {
    expect(cited('Facts:\n\n- Tea: hot [1]\n- Ice: cold [2]')).toEqual([
      ['Tea: hot', 'd1'],
      ['Ice: cold', 'd2'],
    ]);
  });

  it('knows no passages beyond those given', () => {
    expect(cited('Tea is hot [3]. [0]')).toEqual([]);
    expect(cited('[1] Tea')).toEqual([]);
  });
});

describe('CitationCheck', () => {
  it('holds the beginning of a number back, and cites at the end', () => {
    const check = new CitationCheck(passages);
    expect(check.push({ text: 'Tea is hot [' })).toEqual({ text: 'Tea is hot ' });
    expect(check.push({ text: '1]', finishReason: 'length' })).toEqual({
      text: '[1]',
      finishReason: 'length',
      citations: [{ startIndex: 0, endIndex: 10, passage: 1, documentId: 'd1', quote: 'Tea is hot' }],
    });
  });

  it('cites a passage with its first number, so that a stopped answer keeps it, and repeats at the end', () => {
    const check = new CitationCheck(passages);
    const numbers = ({ citations }: ReturnType<typeof check.push>) =>
      citations?.map(({ passage }) => passage);
    expect(numbers(check.push({ text: 'Ice is cold. [2] ' }))).toEqual([1]);
    expect(numbers(check.push({ text: 'Still cold. [2] ' }))).toBeUndefined();
    expect(numbers(check.push({ text: 'Tea is hot. [1] ' }))).toEqual([2]);
    expect(numbers(check.push({ text: 'Yes.', finishReason: 'stop' }))).toEqual([1]);
  });

  /** The shown text and the cited documents of an answer that arrives character by character. */
  const checked = (answer: string, noAnswer?: string) => {
    const check = new CitationCheck(passages, noAnswer);
    const pieces = answer.split('').map((text) => check.push({ text }));
    const last = check.push({ text: '', finishReason: 'stop' });
    const all = [...pieces, last];
    const text = all.map((piece) => piece.text).join('');
    const citations = all.flatMap((piece) => piece.citations ?? []);
    for (const { startIndex, endIndex, quote } of citations)
      expect(text.slice(startIndex, endIndex)).toBe(quote);
    return { text, cited: citations.map(({ passage, documentId }) => [passage, documentId]) };
  };

  it('counts the numbers in the order of their first use', () => {
    expect(checked('Ice is cold. [2] Tea is hot. [1] Both [2, 1].')).toEqual({
      text: 'Ice is cold. [1] Tea is hot. [2] Both [1, 2].',
      cited: [
        [1, 'd2'],
        [2, 'd1'],
        [1, 'd2'],
        [2, 'd1'],
      ],
    });
  });

  it('leaves code and foreign numbers as they are', () => {
    const code = 'Ice is cold. [2] Use `a[2]`:\n\n```\nb[2]\n```\nSee [9] and [';
    expect(checked(code)).toEqual({ text: code.replace('[2]', '[1]'), cited: [[1, 'd2']] });
  });

  it('removes the numbers of a text that says that there is no answer', () => {
    expect(checked('I found nothing. [2]', 'I found nothing.')).toEqual({
      text: 'I found nothing. ',
      cited: [],
    });
  });
});
