import { describe, expect, it } from 'vitest';
import { CitationCheck, findCitations } from './citation-check.js';
import { passageOf } from './grounded-prompt.js';

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
  it('passes everything on and cites at the end', () => {
    const check = new CitationCheck(passages);
    expect(check.push({ text: 'Tea is hot [' })).toEqual({ text: 'Tea is hot [' });
    expect(check.push({ text: '1]', finishReason: 'length' })).toEqual({
      text: '1]',
      finishReason: 'length',
      citations: [{ startIndex: 0, endIndex: 10, passage: 1, documentId: 'd1', quote: 'Tea is hot' }],
    });
  });
});
