import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { document, startStorage, vector, type StorageFixture } from './storage-fixture.js';

const chunk = (filename: string, text: string, more: object = {}) => ({
  text,
  embedding: vector(1, 0, 0),
  metadata: { filename, ...more },
});

describe('documents read by their names', () => {
  let storage: StorageFixture;

  beforeAll(async () => {
    storage = await startStorage();
    const chunks = ['one', 'two', 'three'].map((text) => chunk('a.md', text, { title: 'First', team: 'x' }));
    await storage.documents.replaceDocument(document('a.md'), chunks);
    await storage.documents.replaceDocument(document('b.md'), [chunk('b.md', 'other', { team: 'y' })]);
    const own = { ...document('a.md'), collection: 'vs_1', owner: 'ada' };
    await storage.documents.replaceDocument(own, [chunk('a.md', 'of Ada')]);
  });
  afterAll(() => storage?.stop());

  const titles = (scope: object) => storage.chunks.titles({ collection: 'default', ...scope });
  const read = async (scope: object, maxWords: number) => {
    const [{ id } = { id: '' }] = await titles({ filter: { team: 'x' } });
    const { chunks, isCut } = await storage.chunks.readDocument(
      { collection: 'default', ...scope },
      { id, maxWords },
    );
    return { texts: chunks.map(({ text }) => text), isCut };
  };

  it('are those that a search with the same collection, owner and filter finds', async () => {
    const all = new Map((await titles({})).map(({ filename, title }) => [filename, title]));
    expect(all).toEqual(
      new Map([
        ['a.md', 'First'],
        ['b.md', undefined],
      ]),
    );
    expect((await titles({ filter: { team: 'y' } })).map(({ filename }) => filename)).toEqual(['b.md']);
    expect(await titles({ collection: 'vs_1' })).toEqual([]);
    expect(await titles({ collection: 'vs_1', owner: 'ada' })).toHaveLength(1);
  });

  it('give their chunks in order, within the limit of words', async () => {
    expect(await read({}, 100)).toEqual({ texts: ['one', 'two', 'three'], isCut: false });
    expect(await read({}, 2)).toEqual({ texts: ['one', 'two'], isCut: true });
    expect(await read({ filter: { team: 'y' } }, 100)).toEqual({ texts: [], isCut: false });
    expect(await read({ owner: 'bob' }, 100)).toEqual({ texts: [], isCut: false });
  });
});
