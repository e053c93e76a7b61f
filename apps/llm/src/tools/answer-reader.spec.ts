import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { engineThinkMarks, ThinkSplitter } from './answer-reader.js';

function split(pieces: readonly string[], opened = false) {
  const splitter = new ThinkSplitter({ opened });
  const parts = [...pieces.map((piece) => splitter.push(piece)), splitter.end()];
  return {
    text: parts.map(({ text }) => text).join(''),
    reasoning: parts.map(({ reasoning }) => reasoning).join(''),
  };
}

describe('ThinkSplitter', () => {
  const word = fc.string().map((text) => text.replaceAll(/[<\s]/g, ''));
  const words = fc.array(word).map((all) => all.join(' ').trim());

  it('tells thoughts from text, character by character', () => {
    expect.hasAssertions();
    fc.assert(
      fc.property(words, words, fc.boolean(), (reasoning, text, opened) => {
        const answer = `${opened ? '' : '<think>'}\n${reasoning}\n</think>\n\n${text}`;
        expect(split(Array.from(answer), opened)).toEqual({ text, reasoning });
      }),
    );
  });

  it('leaves an answer without thoughts alone', () => {
    expect.hasAssertions();
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(split(Array.from(text))).toEqual({ text, reasoning: '' });
      }),
    );
  });

  it('keeps a thought that is cut off', () => {
    expect(split(['<think>', 'I wonder </thi'])).toEqual({ text: '', reasoning: 'I wonder </thi' });
  });

  it.each(engineThinkMarks)('knows the marks %s and %s', (open, close) => {
    const splitter = new ThinkSplitter({ opened: false }, engineThinkMarks);
    const parts = Array.from(`${open}plan${close}\n\nHello`).map((piece) => splitter.push(piece));
    expect(parts.map(({ reasoning }) => reasoning).join('')).toBe('plan');
    expect(parts.map(({ text }) => text).join('')).toBe('Hello');
  });

  const unmarked = 'First I plan [2].\n</think>\n\nHello';

  it('reads an answer that begins within its reasoning', () => {
    const splitter = new ThinkSplitter({ opened: true }, engineThinkMarks);
    const parts = [...Array.from(unmarked).map((piece) => splitter.push(piece)), splitter.end()];
    expect(parts.map(({ reasoning }) => reasoning).join('')).toBe('First I plan [2].');
    expect(parts.map(({ text }) => text).join('')).toBe('Hello');
    expect(splitter.beginsInside).toBe(true);
  });

  it('takes an answer for the text that ends by itself within reasoning that no mark began', () => {
    const splitter = new ThinkSplitter({ opened: true }, engineThinkMarks);
    splitter.push('Hello ');
    expect([splitter.end(), splitter.beginsInside]).toEqual([{ text: 'Hello', reasoning: '' }, false]);
    const cut = new ThinkSplitter({ opened: true }, engineThinkMarks);
    cut.push('I plan ');
    expect([cut.end(true).text, cut.beginsInside]).toEqual(['', undefined]);
  });

  it('finds the end of unmarked reasoning in a whole answer, but not in a quotation', () => {
    const read = (answer: string) => {
      const splitter = new ThinkSplitter({ opened: false, waits: true }, engineThinkMarks);
      const parts = [...Array.from(answer).map((piece) => splitter.push(piece)), splitter.end()];
      return { text: parts.map(({ text }) => text).join(''), begins: splitter.beginsInside };
    };
    expect(read(unmarked)).toEqual({ text: 'Hello', begins: true });
    const quoting = 'The mark `</think>` ends it.';
    expect(read(quoting)).toEqual({ text: quoting, begins: undefined });
  });

  it('takes no text for reasoning that the engine separates', () => {
    const splitter = new ThinkSplitter({ opened: true }, engineThinkMarks);
    splitter.separated();
    expect(splitter.push('Hello')).toEqual({ text: 'Hello', reasoning: '' });
    expect(splitter.beginsInside).toBe(false);
  });
});
