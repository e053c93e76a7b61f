import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { splitSentences, countWords, firstWords } from './sentences.js';

const trimmed = (text: string) => splitSentences(text).map((sentence) => sentence.trim());

describe('splitSentences', () => {
  it.each([
    [
      'titles and initials',
      'Dr. Smith met J. R. R. Tolkien. They talked.',
      ['Dr. Smith met J. R. R. Tolkien.', 'They talked.'],
    ],
    [
      'decimals and versions',
      'It costs 3.14 euros. Version 2.0.1 works.',
      ['It costs 3.14 euros.', 'Version 2.0.1 works.'],
    ],
    ['latin abbreviations', 'See e.g. Paris or i.e. Rome. Done.', ['See e.g. Paris or i.e. Rome.', 'Done.']],
    [
      'numbers behind "No." and "Fig."',
      'See Fig. 3 A and No. 5 B. The end.',
      ['See Fig. 3 A and No. 5 B.', 'The end.'],
    ],
    ['a plain no', 'The answer is no. She left.', ['The answer is no.', 'She left.']],
    ['a name within dots', 'The U.S. Army came. It left.', ['The U.S. Army came.', 'It left.']],
    [
      'dots at the end',
      'He lives in the U.S. The end is near.',
      ['He lives in the U.S.', 'The end is near.'],
    ],
    [
      'companies',
      'He joined Acme Inc. Europe in May. He left.',
      ['He joined Acme Inc. Europe in May.', 'He left.'],
    ],
    [
      'an end with "etc."',
      'Fix bugs etc. Use forums, chats etc. as well.',
      ['Fix bugs etc.', 'Use forums, chats etc. as well.'],
    ],
    ['list numbers', '1. First item. 2. The rest.', ['1. First item.', '2. The rest.']],
    ['questions and quotes', 'Really?! "Stop." Then he left!', ['Really?!', '"Stop."', 'Then he left!']],
    ['scripts without spaces', '第一句。第二句！', ['第一句。', '第二句！']],
  ])('keeps %s right', (_name, text, sentences) => {
    expect(trimmed(text)).toEqual(sentences);
  });

  it.each(['Mr. ', 'J. ', '1. ', 'a.\n', 'e.g. (', '"', ' \n', 'no. 5 '])(
    'takes a time that grows with the length of a text of %j',
    (piece) => {
      const text = piece.repeat(Math.ceil(400_000 / piece.length));
      const startedAt = performance.now();
      expect(splitSentences(text).join('')).toBe(text);
      // It took 24 seconds for half of that.
      expect(performance.now() - startedAt).toBeLessThan(8000);
    },
  );

  it('finds the same sentences in a long text as in its parts', () => {
    const part =
      'Dr. Smith went to 3.5 places. "Did he?" question J. R. Tolkien (e.g. twice). Yes! ... No. 5 was it.\n';
    expect(splitSentences(part.repeat(300))).toEqual(
      Array.from({ length: 300 }, () => splitSentences(part)).flat(),
    );
  });

  it('loses nothing', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        expect(splitSentences(text).join('')).toBe(text);
      }),
    );
  });
});

it('keeps a German day with its month', () => {
  expect(splitSentences('Vom 23. Dezember bis zum 6. Januar ist zu. Es sind 12. Das reicht.')).toEqual([
    'Vom 23. Dezember bis zum 6. Januar ist zu. ',
    'Es sind 12. ',
    'Das reicht.',
  ]);
});

it('counts what stands between spaces', () => {
  expect([' one,  two\n', '', ' \n'].map(countWords)).toEqual([2, 0, 0]);
});

describe('firstWords', () => {
  it('keeps a text that is short enough as it is', () => {
    expect(firstWords(' one  two\n', 2)).toBe(' one  two\n');
  });

  it('cuts behind the last word that fits', () => {
    expect(firstWords('one  two\nthree four', 3)).toBe('one  two\nthree');
    expect(firstWords('one', 0)).toBe('');
  });
});
