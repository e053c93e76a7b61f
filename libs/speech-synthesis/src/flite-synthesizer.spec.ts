import { describe, expect, it } from 'vitest';
import { splitForSpeech, toEnglishLetters } from './flite-synthesizer.js';

describe('toEnglishLetters', () => {
  it('keeps what an English voice reads, and spells signs out', () => {
    expect(toEnglishLetters('Zoë’s “café” – 20° …')).toBe(`Zoe's "cafe" - 20 degrees ...`);
  });

  it('leaves letters of other scripts out', () => {
    expect(toEnglishLetters('привет 世界')).toBe(' ');
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
  });
});
