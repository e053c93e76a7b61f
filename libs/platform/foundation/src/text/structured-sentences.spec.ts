import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { normalizeWhitespace, sentencesOf } from './structured-sentences.js';

describe('sentencesOf', () => {
  it.each([
    ['One. Two! Three?', ['One.', 'Two!', 'Three?']],
    [
      'Dr. Smith met J. R. Miller at 5 p.m. in the U.S. He left.',
      ['Dr. Smith met J. R. Miller at 5 p.m. in the U.S.', 'He left.'],
    ],
    ['Use tools, e.g. Vite. They help.', ['Use tools, e.g. Vite.', 'They help.']],
    ['Version 1.5 is out. It works.', ['Version 1.5 is out.', 'It works.']],
    ['A title\n\nText goes\non here. More', ['A title', 'Text goes on here.', 'More']],
    ['Steps:\n1. Install it.\n2. Run it.', ['Steps:', '1. Install it.', '2. Run it.']],
    ['# Head\n- one\n- two', ['# Head', '- one', '- two']],
    ['第一句。第二句！', ['第一句。第二句！']],
    [' \n ', []],
  ])('%j', (text, sentences) => {
    expect(sentencesOf(text)).toEqual(sentences);
  });

  it('loses nothing but whitespace', () => {
    const text = fc
      .array(fc.constantFrom('a', 'B', '.', '!', ' ', '\n', '- ', '1.', 'Mr.', '"'))
      .map((all) => all.join(''));
    const lossless = fc.property(
      text,
      (given) => sentencesOf(given).join(' ') === normalizeWhitespace(given),
    );
    expect(() => fc.assert(lossless)).not.toThrow();
  });
});
