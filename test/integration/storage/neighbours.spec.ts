import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { document, search, startStorage, vector, type StorageFixture } from './storage-fixture.js';

const embedding = vector(1, 0, 0);

/** Chunks of one section, `count` of them; `blocks` are the kinds of their parts. */
function section(heading: string, count: number, blocks?: string, name = heading) {
  return Array.from({ length: count }, (_unused, index) => ({
    text: `${name} ${index}`,
    embedding,
    metadata: { heading, ...(blocks && { blocks }) },
  }));
}

describe('the neighbours of chunks', () => {
  let storage: StorageFixture;
  let ids: Map<string, string>;

  beforeAll(async () => {
    storage = await startStorage();
    await storage.documents.replaceDocument(document('guide.md'), [
      ...section('Install', 3),
      ...section('Use', 20),
      ...section('Prices', 40, 'rr'),
      ...section('Use', 2, undefined, 'More'),
    ]);
    await storage.documents.replaceDocument(document('minutes.md'), [
      ...section('Head', 1),
      ...section('Item', 2),
      ...section('End', 1),
    ]);
    await storage.documents.replaceDocument(
      { ...document('own.md'), collection: 'vs_1', owner: 'ada' },
      section('Own', 3),
    );
    const found = await storage.chunks.search(search({ embedding, k: 200 }));
    const own = await storage.chunks.search(search({ embedding, k: 9, collection: 'vs_1', owner: 'ada' }));
    ids = new Map([...found, ...own].map(({ id, text }) => [text, id]));
  });

  afterAll(() => storage?.stop());

  const around = async (
    texts: string[],
    { maxWords = 10_000, owner }: { maxWords?: number; owner?: string } = {},
  ) => {
    const wanted = texts.map((text) => ids.get(text) ?? text);
    const neighbours = await storage.chunks.neighbours({ ids: wanted, maxWords, owner });
    return neighbours.map(({ text }) => text);
  };
  const numbered = (heading: string, from: number, to: number) =>
    Array.from({ length: to - from + 1 }, (_unused, index) => `${heading} ${from + index}`);

  it('end with the section', async () => {
    expect(await around(['Install 1'])).toEqual(['Install 0', 'Install 2']);
    expect(await around(['Use 0'])).toEqual(numbered('Use', 1, 8));
  });

  it('are the rest of the document of its beginning, if that is one of the best', async () => {
    expect(await around(['Head 0'])).toEqual(['Item 0', 'Item 1', 'End 0']);
    expect(await around(['Item 0'])).toEqual(['Item 1']);
    expect(await around(['Prices 0', 'Prices 1', 'Prices 2', 'Head 0'], { maxWords: 8 })).not.toContain(
      'Item 0',
    );
    const nearest = await around(['Head 0', 'Use 10'], { maxWords: 34 });
    expect(new Set(nearest)).toEqual(
      new Set([...numbered('Use', 2, 9), ...numbered('Use', 11, 18), 'Item 0']),
    );
  });

  it('are the whole table of a chunk with rows', async () => {
    expect(await around(['Prices 20'])).toEqual([
      ...numbered('Prices', 0, 19),
      ...numbered('Prices', 21, 39),
    ]);
  });

  it('are fewer for later ranks, and do not repeat what was found', async () => {
    const first = numbered('Use', 0, 4);
    const all = await around([...first, 'Use 17']);
    expect(all).toEqual([...numbered('Use', 5, 12), 'Use 16', 'Use 18']);
  });

  it('are the nearest ones within the limit of words', async () => {
    expect(await around(['Use 10'], { maxWords: 8 })).toEqual(['Use 8', 'Use 9', 'Use 11', 'Use 12']);
  });

  it('belong to the owner alone', async () => {
    expect(await around(['Own 1'])).toEqual([]);
    expect(await around(['Own 1'], { owner: 'bob' })).toEqual([]);
    expect(await around(['Own 1'], { owner: 'ada' })).toEqual(['Own 0', 'Own 2']);
    expect(await around(['Install 1'], { owner: 'ada' })).toEqual([]);
  });

  it('are none for passages that are not stored', async () => {
    expect(await around(['text of a file', '9b2f8d0e-5a52-4b57-9e7b-0d9a55a1c001'])).toEqual([]);
  });
});
