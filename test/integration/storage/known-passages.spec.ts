import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ChunkSearch } from '#platform/storage';
import { document, search, startStorage, vector, type StorageFixture } from './storage-fixture.js';

const embedding = vector(1, 0, 0);
const chunk = (text: string, x: number, topic = 'all') => ({
  text,
  embedding: vector(x, 1 - x, 0),
  metadata: { topic },
});

describe('a search that knows passages of earlier answers', () => {
  let storage: StorageFixture;
  let ids: Map<string, string>;
  let documents: Map<string, string>;

  beforeAll(async () => {
    storage = await startStorage();
    await storage.documents.replaceDocument(document('a.md'), [
      chunk('The header image of a profile, its header.', 0.9),
      chunk('Formats of the avatar: PNG and GIF.', 0.1, 'formats'),
    ]);
    await storage.documents.replaceDocument(document('b.md'), [
      chunk('The header image of a page.', 0.89),
      chunk('A page without anything.', 0.3),
    ]);
    await storage.documents.replaceDocument({ ...document('own.md'), collection: 'vs_1', owner: 'ada' }, [
      chunk('The header image of Ada.', 0.9),
    ]);
    const all = await storage.chunks.search(search({ embedding, k: 9 }));
    const own = await storage.chunks.search(search({ embedding, collection: 'vs_1', owner: 'ada' }));
    ids = new Map([...all, ...own].map(({ id, text }) => [text, id]));
    documents = new Map(all.map(({ text, metadata }) => [text, String(metadata['document_id'])]));
  });

  afterAll(() => storage?.stop());

  const find = async (changes: Partial<ChunkSearch>) => {
    const hits = await storage.chunks.search(
      search({ embedding, query: 'header image', searchType: 'hybrid', k: 2, ...changes }),
    );
    return hits.map(({ text }) => text);
  };
  const [avatar, header, page] = [
    'Formats of the avatar: PNG and GIF.',
    'The header image of a profile, its header.',
    'The header image of a page.',
  ];

  it('puts a preferred document before one that fits as well', async () => {
    const fusion = { method: 'scores', similarityWeight: 1, rankConstant: 60 } as const;
    expect(await find({ fusion })).toEqual([header, page]);
    expect(await find({ fusion, preferredDocuments: [documents.get(page)!] })).toEqual([page, header]);
    expect(
      await find({ searchType: 'lexical', query: 'image', k: 1, preferredDocuments: [documents.get(page)!] }),
    ).toEqual([page]);
    expect(
      await find({
        searchType: 'lexical',
        query: 'image',
        k: 1,
        preferredDocuments: [documents.get(header)!],
      }),
    ).toEqual([header]);
  });

  it('does not lift a passage of a preferred document that hardly fits', async () => {
    expect(await find({ k: 2, preferredDocuments: [documents.get(header)!] })).not.toContain(avatar);
  });

  it('appends known passages, each once, with the lowest score', async () => {
    const hits = await storage.chunks.search(
      search({
        embedding,
        query: 'header image',
        searchType: 'hybrid',
        k: 2,
        passages: [ids.get(avatar)!, ids.get(header)!, 'not-an-id'],
      }),
    );
    expect(hits.map(({ text }) => text)).toEqual([header, page, avatar]);
    expect(hits[2]!.score).toBe(hits[1]!.score);
  });

  it('appends no passage that the search may not return', async () => {
    const passages = [...ids.values()];
    expect(await find({ k: 9, passages })).not.toContain('The header image of Ada.');
    expect(await find({ k: 9, passages, filter: { topic: 'formats' } })).toEqual([avatar]);
    expect(await find({ k: 9, passages, collection: 'elsewhere' })).toEqual([]);
    expect(await find({ k: 9, passages, collection: 'vs_1', owner: 'bob' })).toEqual([]);
    expect(await find({ k: 9, passages, collection: 'vs_1', owner: 'ada' })).toEqual([
      'The header image of Ada.',
    ]);
  });
});
