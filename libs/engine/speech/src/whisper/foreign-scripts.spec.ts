import { describe, expect, it } from 'vitest';
import type { TokenVocabulary } from '#engine/models';
import { foreignTokens } from './foreign-scripts.js';

const texts = ['hello', ' naïve', ' Ø', '!', ' 42', '♪', 'わ', ' привет', '한', '中', 'สวัส', 'ế', 'ي', 'ß'];
const parts = [[0xe3], [0xe3, 0x82], [0xd0], [0xe2, 0x80], [0x82], [0xf0, 0x9f], [0xc3], [0xe1, 0xba]];
const pieces = [...texts.map((text) => Buffer.from(text)), ...parts.map((bytes) => Buffer.from(bytes))];
const vocabulary = { bytesOf: (id: number) => pieces[id]! } as unknown as TokenVocabulary;
const foreignTo = (language: string) =>
  foreignTokens(vocabulary, language, pieces.length).map((id) => texts[id] ?? parts[id - texts.length]);

describe('foreignTokens', () => {
  // E3 alone also begins the punctuation of East Asia.
  it('leaves a language its own letters, Latin ones, digits and signs', () => {
    const others = ['わ', ' привет', '한', '中', 'สวัส', 'ي'];
    expect(foreignTo('en')).toEqual([...others, [0xe3, 0x82], [0xd0]]);
    expect(foreignTo('vi')).toEqual(foreignTo('en'));
    expect(foreignTo('ru')).toEqual([...others.filter((text) => text !== ' привет'), [0xe3, 0x82]]);
    expect(foreignTo('ja')).toEqual([' привет', '한', 'สวัส', 'ي', [0xd0]]);
    expect(foreignTo('zh')).toContain('わ');
    expect(foreignTo('zh')).not.toContain('中');
  });

  it('does not judge languages in several scripts', () => {
    expect(foreignTo('sr')).toEqual([]);
  });
});
