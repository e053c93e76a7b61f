import { describe, expect, it } from 'vitest';
import { limitAnswer, locateQuotes, writeAnswer } from './written-answer.js';

/** A block with one sentence, which answers. */
const blockOf = (text: string, passage: number, documentId: string, lead = '') => ({
  lead,
  text,
  answer: { start: 0, end: text.length },
  quote: text,
  passage,
  documentId,
});
const blocks = [blockOf('Tea is hot.', 2, 'a'), blockOf('It is cold.', 1, 'b', 'Ice: ')];
const answer = writeAnswer('', blocks, 0.5);
const tokens = answer.text.split(/(?= )/);

describe('writeAnswer', () => {
  it('cites the answering sentence of each block', () => {
    const [tea, ice] = blocks;
    const longer = { ...ice!, text: 'Ask. It is cold.', answer: { start: 5, end: 16 } };
    const { text, citations } = writeAnswer('', [tea!, longer], 0.5);
    expect(text).toBe('Tea is hot. [1]\n\nIce: Ask. It is cold. [2]');
    for (const { startIndex, endIndex, quote } of citations)
      expect(text.slice(startIndex, endIndex)).toBe(quote);
    expect(citations.map(({ passage, documentId }) => [passage, documentId])).toEqual([
      [1, 'a'],
      [2, 'b'],
    ]);
  });

  it('counts passages in the order of their first blocks, and lists first blocks first', () => {
    const { text, citations } = writeAnswer(
      '',
      [blocks[0]!, blockOf('Tea is brown.', 2, 'a'), blocks[1]!],
      1,
    );
    expect(text).toBe('Tea is hot. [1]\n\nTea is brown. [1]\n\nIce: It is cold. [2]');
    expect(citations.map(({ passage, quote }) => [passage, quote])).toEqual([
      [1, 'Tea is hot.'],
      [2, 'It is cold.'],
      [1, 'Tea is brown.'],
    ]);
  });

  it('sets the marker of code and of a table on a line of its own', () => {
    const code = blockOf('```\nrun\n```', 1, 'c');
    const table = blockOf('| a |\n| --- |\n| 1 |', 2, 'd');
    expect(writeAnswer('Closest passages:', [code, table], 1).text).toBe(
      'Closest passages:\n\n```\nrun\n```\n\n[1]\n\n| a |\n| --- |\n| 1 |\n\n[2]',
    );
    expect(writeAnswer('Closest passage:', [blocks[0]!], 1).text).toBe('Closest passage: Tea is hot. [1]');
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

it('locateQuotes finds the quotes in their chunks', () => {
  const citation = (documentId: string, quote: string) => ({
    startIndex: 0,
    endIndex: 3,
    passage: 1,
    documentId,
    quote,
  });
  const chunks = [{ id: 'a', text: 'Well. Tea is hot.' }];
  const located = locateQuotes(
    [citation('a', 'Tea is hot.'), citation('a', 'Tea  is'), citation('b', 'x')],
    chunks,
  );
  expect(located.map(({ quoteStart, quoteEnd }) => [quoteStart, quoteEnd])).toEqual([
    [6, 17],
    [undefined, undefined],
    [undefined, undefined],
  ]);
});
