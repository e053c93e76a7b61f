import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Detokeniser } from './detokeniser.js';

describe('Detokeniser', () => {
  it('never emits half a character, however its bytes are cut', () => {
    const text = fc.string({ unit: 'binary', minLength: 1 });
    fc.assert(
      fc.property(text, fc.array(fc.integer({ min: 1, max: 5 })), (text, cuts) => {
        const bytes = new TextEncoder().encode(text);
        const detokeniser = new Detokeniser();
        let at = 0;
        let out = '';
        for (const size of [...cuts, bytes.length]) {
          const piece = detokeniser.push(bytes.subarray(at, at + size));
          at += size;
          out += piece;
          expect(text.startsWith(out)).toBe(true);
        }
        expect(out).toBe(text);
      }),
    );
  });

  it('drops as many leading spaces as it is told, and only at the start', () => {
    const detokeniser = new Detokeniser(1);
    const push = (text: string) => detokeniser.push(new TextEncoder().encode(text));
    expect([push(''), push('  a'), push(' b')]).toEqual(['', ' a', ' b']);
  });
});
