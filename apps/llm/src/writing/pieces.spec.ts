import { array, assert, integer, property, stringMatching } from 'fast-check';
import { countWords } from '#text';
import { describe, expect, it } from 'vitest';
import { cutIntoPieces } from './pieces.js';

describe('cutIntoPieces', () => {
  it('cuts at sentence borders and repeats whole sentences only', () => {
    const text = 'One two three. Four five six. Seven eight. Nine ten eleven twelve.';
    expect(cutIntoPieces(text, 6)).toEqual([
      'One two three. Four five six.',
      'Seven eight. Nine ten eleven twelve.',
    ]);
    expect(cutIntoPieces(text, 6, 3)[1]).toBe('Four five six. Seven eight.');
  });

  it('loses nothing, repeats nothing and keeps to the size, whatever the text', () => {
    const words = array(stringMatching(/^[a-z]{1,8}[.!]?$/), { maxLength: 60 });
    assert(
      property(words, integer({ min: 1, max: 20 }), (list, size) => {
        const pieces = cutIntoPieces(list.join(' '), size);
        expect(pieces.join(' ').split(/\s+/).filter(Boolean)).toEqual(list);
        for (const piece of pieces) expect(countWords(piece)).toBeLessThanOrEqual(size);
      }),
    );
  });
});
