import { describe, expect, it } from 'vitest';
import type { FoundPassage } from '../../vector-stores/vector-store-search.js';
import { numberedPassages, toDocument, toSearchResult } from './file-search.js';

const found = (number: number, text: string): FoundPassage => ({
  score: 0.5,
  passage: { id: `chunk-${number}`, text, score: 9, metadata: { document_id: 'd', filename: 'x', page: 2 } },
  file: {
    vectorStoreId: 'vs_1',
    fileId: `file-${number}`,
    filename: `${number}.md`,
    status: 'completed',
    attributes: { year: 1900, page: 2 },
    chunkTokens: 100,
    overlapTokens: 0,
    documentId: 'd',
    usageBytes: 1,
    error: null,
    createdAt: new Date(),
  },
});

describe('passages that a model is shown', () => {
  it('are numbered on from those before', () => {
    const blocks = [
      { label: '1.md', text: 'one two three' },
      { label: '2.md', text: 'four five' },
    ];
    expect(numberedPassages(blocks, 3)).toBe('[4] 1.md\none two three\n\n[5] 2.md\nfour five');
    expect(numberedPassages([], 0)).toBe('Nothing was found.');
  });

  it('point to their file, with its own attributes and their page', () => {
    expect(toDocument(found(1, 'one'))).toMatchObject({
      id: 'chunk-1',
      score: 0.5,
      metadata: { document_id: 'file-1', filename: '1.md', page: 2 },
    });
    expect(toSearchResult(found(1, 'one'))).toEqual({
      file_id: 'file-1',
      filename: '1.md',
      text: 'one',
      score: 0.5,
      attributes: { chunk_id: 'chunk-1', year: 1900, page: 2 },
    });
  });
});
