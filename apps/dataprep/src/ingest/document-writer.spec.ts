import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countWords } from '../chunking/text-units.js';
import { chunkMetadata, embeddingTexts, meanVector, windowsOf } from './document-writer.js';

describe('embeddingTexts', () => {
  it('puts the headings before the text', () => {
    const chunk = { text: 'Run npm ci.', words: 3, headings: ['Guide', 'Install'] };
    expect(embeddingTexts(chunk, 100)).toEqual(['Guide > Install\nRun npm ci.']);
    expect(embeddingTexts({ ...chunk, headings: [] }, 100)).toEqual(['Run npm ci.']);
  });
});

describe('chunkMetadata', () => {
  it('has what the document says about its date, unless the user gave one', () => {
    const chunk = { text: 'Run npm ci.', words: 3, headings: [] };
    const document = { title: 'Guide', date: '2025-02-10', chunks: [chunk] };
    expect(chunkMetadata(document, chunk)).toEqual({ title: 'Guide', date: '2025-02-10' });
    expect(chunkMetadata(document, chunk, { date: '2024-01-01' })).toEqual({ title: 'Guide' });
  });
});

describe('windowsOf', () => {
  it('keeps every word, in even windows within the limit', () => {
    fc.assert(
      fc.property(
        fc.array(fc.stringMatching(/^[a-z中]{1,8}$/u)),
        fc.integer({ min: 1, max: 20 }),
        (words, limit) => {
          const windows = windowsOf(words.join(' '), limit);
          expect(windows.join('').replaceAll(' ', '')).toBe(words.join(''));
          const sizes = windows.map(countWords);
          expect(Math.max(...sizes)).toBeLessThanOrEqual(limit);
        },
      ),
    );
  });
});

describe('meanVector', () => {
  it('has unit length; one vector stays as it is', () => {
    expect([...meanVector([Float32Array.of(1, 0), Float32Array.of(0, 1)])]).toEqual([
      expect.closeTo(Math.SQRT1_2, 6),
      expect.closeTo(Math.SQRT1_2, 6),
    ]);
    expect([...meanVector([Float32Array.of(3, 4)])]).toEqual([3, 4]);
  });
});
