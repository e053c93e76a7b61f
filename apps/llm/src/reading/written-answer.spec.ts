import { describe, expect, it } from 'vitest';
import { limitAnswer, writeAnswer } from './written-answer.js';

const quotes = [
  { lead: '', text: 'Tea is hot.', passage: 2, documentId: 'a' },
  { lead: 'Ice: ', text: 'It is cold.', passage: 1, documentId: 'b' },
];
const answer = writeAnswer('', quotes, 0.5);
const tokens = answer.text.split(/(?= )/);

describe('writeAnswer', () => {
  it('cites each quote', () => {
    expect(answer.text).toBe('Tea is hot. [1] Ice: It is cold. [2]');
    for (const { startIndex, endIndex, quote } of answer.citations)
      expect(answer.text.slice(startIndex, endIndex)).toBe(quote);
    expect(answer.citations.map(({ passage, documentId }) => [passage, documentId])).toEqual([
      [1, 'a'],
      [2, 'b'],
    ]);
  });

  it('counts passages in the order of their first quotes, and lists first quotes first', () => {
    const again = { lead: '', text: 'Tea is brown.', passage: 2, documentId: 'a' };
    const { text, citations } = writeAnswer('', [quotes[0]!, again, quotes[1]!], 1);
    expect(text).toBe('Tea is hot. [1] Tea is brown. [1] Ice: It is cold. [2]');
    expect(citations.map(({ passage, quote }) => [passage, quote])).toEqual([
      [1, 'Tea is hot.'],
      [2, 'It is cold.'],
      [1, 'Tea is brown.'],
    ]);
  });

  it('gives code and lists lines of their own', () => {
    const code = { lead: '', text: '```\nrun\n```', passage: 1, documentId: 'c' };
    expect(writeAnswer('Perhaps:', [code, ...quotes], 1).text).toBe(
      'Perhaps:\n\n```\nrun\n```\n[1]\n\nTea is hot. [2] Ice: It is cold. [1]',
    );
  });
});

describe('limitAnswer', () => {
  it('leaves an answer whole without limits', () => {
    expect(limitAnswer(answer, tokens, {})).toEqual({
      text: answer.text,
      citations: answer.citations,
      finishReason: 'stop',
      completionTokens: tokens.length,
    });
  });

  it('cuts it at the most tokens, and cites what is left', () => {
    const cut = limitAnswer(answer, tokens, { max_tokens: 2 });
    expect(cut).toMatchObject({ text: 'Tea is', finishReason: 'length', completionTokens: 2 });
    expect(cut.citations).toEqual([
      { startIndex: 0, endIndex: 6, passage: 1, documentId: 'a', quote: 'Tea is' },
    ]);
    expect(limitAnswer(answer, tokens, { max_tokens: tokens.length }).finishReason).toBe('stop');
  });

  it('stops before a stop string, or behind it', () => {
    expect(limitAnswer(answer, tokens, { stop: ['cold', ' hot'] })).toMatchObject({
      text: 'Tea is',
      finishReason: 'stop',
      completionTokens: 2,
    });
    expect(limitAnswer(answer, tokens, { stop: ' hot', include_stop_str_in_output: true }).text).toBe(
      'Tea is hot',
    );
  });

  it('gives the tokens the probability of the choice', () => {
    const { logprobs = [] } = limitAnswer(answer, tokens, { logprobs: true, top_logprobs: 1 });
    expect(logprobs.map(({ token }) => token).join('')).toBe(answer.text);
    expect(logprobs.map(({ logprob }) => logprob)).toEqual([Math.log(0.5), ...tokens.slice(1).map(() => 0)]);
    expect(logprobs[0]?.top_logprobs).toHaveLength(1);
  });
});
