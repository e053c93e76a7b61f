import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { evenPieces } from './file-pieces.js';

async function* streamOf(parts: readonly Uint8Array[]) {
  for (const part of parts) {
    await Promise.resolve();
    yield part;
  }
}

describe('evenPieces', () => {
  it('keeps every byte in order, in pieces of one size but for the last', async () => {
    const parts = fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(parts, fc.integer({ min: 1, max: 16 }), async (given, size) => {
        const pieces: Buffer[] = [];
        for await (const piece of evenPieces(streamOf(given), size)) pieces.push(Buffer.from(piece));
        expect(Buffer.compare(Buffer.concat(pieces), Buffer.concat(given))).toBe(0);
        expect(pieces.slice(0, -1).every(({ length }) => length === size)).toBe(true);
        expect(pieces.every(({ length }) => length > 0 && length <= size)).toBe(true);
      }),
      { numRuns: 200 },
    );
  });
});
