import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { StopMatcher } from './completion-text.js';

function feed(stops: string[], pieces: string[]): { text: string; stopped: boolean } {
  const matcher = new StopMatcher(stops);
  let text = '';
  for (const piece of pieces) {
    const certain = matcher.push(piece);
    text += certain.text;
    if (certain.stopped) return { text, stopped: true };
  }
  return { text: text + matcher.flush(), stopped: false };
}

/** A small alphabet, so that stops and their beginnings really occur. */
const word = (minLength: number) => fc.string({ unit: fc.constantFrom('a', 'b'), minLength, maxLength: 4 });

describe('StopMatcher', () => {
  it('holds back what may become a stop string, and no more', () => {
    const matcher = new StopMatcher(['\n\nUser:']);
    expect(matcher.push('Hello\n')).toEqual({ text: 'Hello', stopped: false });
    expect(matcher.push('\nUs')).toEqual({ text: '', stopped: false });
    expect(matcher.push('ual')).toEqual({ text: '\n\nUsual', stopped: false });
  });

  it('cuts at the earliest of several', () => {
    expect(feed(['late', 'b'], ['a', 'bc late'])).toEqual({ text: 'a', stopped: true });
  });

  it('gives what a search in the whole text gives, wherever the pieces are cut', () => {
    fc.assert(
      fc.property(fc.array(word(0)), fc.array(word(1), { maxLength: 3 }), (pieces, stops) => {
        const { text, stopped } = feed(stops, pieces);
        const whole = pieces.join('');
        // The earliest to be complete wins, as nothing behind it is ever generated.
        const ends = stops.map((stop) => whole.indexOf(stop)).filter((at) => at >= 0);
        expect(stopped).toBe(ends.length > 0);
        expect(whole.startsWith(text)).toBe(true);
        expect(stopped || text === whole).toBe(true);
        expect(stops.some((stop) => text.includes(stop))).toBe(false);
      }),
    );
  });
});
