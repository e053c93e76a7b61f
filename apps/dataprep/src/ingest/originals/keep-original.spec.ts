import { describe, expect, it, vi } from 'vitest';
import type { OriginalsRepository } from '#platform/storage';
import type { LoadedDocument } from '../document-loader.js';
import type { IngestContext } from '../ingest-context.js';
import { withOriginal } from './keep-original.js';

const stored = { documentId: 'd', filename: 'a.txt', chunks: 1, outcome: 'added' as const };
const loaded = { filename: 'a.txt', bytes: 3, original: () => [] } as unknown as LoadedDocument;
const context = {} as IngestContext;
const store = (keep: () => Promise<'kept' | 'no_room' | 'gone'>, maxBytes = 10) => ({
  keep: vi.fn<OriginalsRepository['keep']>(keep),
  maxBytes,
});

describe('withOriginal', () => {
  it('keeps the file of a shared document', async () => {
    const originals = store(() => Promise.resolve('kept'));
    expect(await withOriginal(originals, stored, loaded, context)).toEqual(stored);
    expect(originals.keep).toHaveBeenCalledWith('d', 3, expect.anything());
  });

  it.each([
    ['without room', () => Promise.resolve('no_room' as const), 'ORIGINALS_LIMIT_BYTES'],
    ['after an error', () => Promise.reject(new Error('disk')), 'a.txt'],
  ])('warns %s', async (_case, keep, reason) => {
    const warned = await withOriginal(store(keep), stored, loaded, context);
    expect(warned.warnings).toEqual([
      { code: 'original_not_kept', message: expect.stringContaining(reason) },
    ]);
  });

  it.each([
    ['is unchanged', { ...stored, outcome: 'unchanged' as const }, context, 10],
    ['is a file of a vector store', stored, { owner: 'o' } as IngestContext, 10],
    ['is stored where files are not kept', stored, context, 0],
  ])('leaves a document alone that %s', async (_case, document, given, maxBytes) => {
    const originals = store(() => Promise.resolve('kept'), maxBytes);
    expect(await withOriginal(originals, document, loaded, given)).toEqual(document);
    expect(originals.keep).not.toHaveBeenCalled();
  });
});
