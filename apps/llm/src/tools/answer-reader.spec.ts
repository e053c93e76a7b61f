import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { engineThinkMarks, ThinkSplitter } from './answer-reader.js';

function split(pieces: readonly string[], opened = false) {
  const splitter = new ThinkSplitter(opened);
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
    const splitter = new ThinkSplitter(false, engineThinkMarks);
    const parts = Array.from(`${open}plan${close}\n\nHello`).map((piece) => splitter.push(piece));
    expect(parts.map(({ reasoning }) => reasoning).join('')).toBe('plan');
    expect(parts.map(({ text }) => text).join('')).toBe('Hello');
  });
});
