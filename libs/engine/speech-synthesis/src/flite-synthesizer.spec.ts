import { describe, expect, it } from 'vitest';
import { assertSpeakable, splitForSpeech, toEnglishLetters } from './flite-synthesizer.js';

describe('toEnglishLetters', () => {
  it('keeps what an English voice reads, and spells signs out', () => {
    expect(toEnglishLetters('Zoë’s “café” – 20° …')).toBe(`Zoe's "cafe" - 20 degrees ...`);
  });

  it('leaves letters of other scripts out', () => {
    expect(toEnglishLetters('привет 世界')).toBe(' ');
  });
});

describe('assertSpeakable', () => {
  it.each([
    ['9', 0.25],
    ['1234567890 ', 1],
    ['%a', 0.5],
  ])('refuses 4,096 characters of "%s" at speed %f, which take too long', (piece, speed) => {
    const pieces = splitForSpeech(`a${piece.repeat(4_096)}`.slice(0, 4_096));
    expect(() => assertSpeakable(pieces, speed)).toThrow(
      expect.objectContaining({
        status: 400,
        param: 'input',
        message: expect.stringContaining('1200 seconds'),
      }),
    );
  });

  it('takes the longest text of letters at the lowest speed, and a page of numbers', () => {
    expect(() => assertSpeakable(splitForSpeech('ordinary '.repeat(455)), 0.25)).not.toThrow();
    expect(() =>
      assertSpeakable(splitForSpeech('In 2024 it cost 1,200 euros. '.repeat(140)), 1),
    ).not.toThrow();
  });
});

describe('splitForSpeech', () => {
  it('speaks sentence by sentence, without pieces that have nothing to say', () => {
    expect(splitForSpeech('One. Two? *** Three.')).toEqual(['One.', 'Two?', '*** Three.']);
    expect(splitForSpeech('--- ... !')).toEqual([]);
  });

  it('cuts long sentences at commas, else at spaces, else anywhere', () => {
    const clauses = Array.from({ length: 20 }, (_, index) => `clause number ${index} of many`).join(', ');
    const pieces = splitForSpeech(`${clauses}.`);
    expect(pieces.every((piece) => piece.length <= 240)).toBe(true);
    expect(pieces.slice(0, -1).every((piece) => piece.endsWith(','))).toBe(true);
    expect(pieces.join('')).toBe(`${clauses}.`);
    expect(splitForSpeech('x'.repeat(1000)).map((piece) => piece.length)).toEqual([240, 240, 240, 240, 40]);
    expect(Math.max(...splitForSpeech('9'.repeat(1_000)).map(({ length }) => length))).toBeLessThan(40);
  });
});
