import { MegaNestError } from '#platform/contracts';
import type { ForeignDocument } from '#platform/storage';
import { expect, it, vi } from 'vitest';
import { Reembedding } from './reembedding.js';

const info = { id: 'new', revision: 'r', backend: 'none', maxInputTokens: 8, created: 0 };

/** Three documents of one chunk; the texts of one are refused. */
function setUp(documents = ['a.txt', 'refused.txt', 'z.txt']) {
  const stored = documents.map((filename) => ({ id: filename, filename, embeddingModel: 'old@r' }));
  const embedded = new Map<string, number[]>();
  const texts: string[] = [];
  const open = (document: ForeignDocument) => !embedded.has(document.id);
  const reembedding = new Reembedding(
    {
      count: () => Promise.resolve(stored.filter(open).length),
      next: (_model: string, after = '') =>
        Promise.resolve(stored.find((document) => open(document) && document.id > after)),
      chunks: (id: string) => Promise.resolve([{ id: `${id}-0`, text: `text of ${id}`, heading: 'Top' }]),
      replace: (document: ForeignDocument, model: string, chunks: { embedding: Float32Array }[]) => {
        expect(model).toBe('new@r with the prefix "passage: "');
        embedded.set(document.id, [...chunks[0]!.embedding]);
        return Promise.resolve(true);
      },
    } as never,
    {
      describe: () => Promise.resolve({ ...info, prefixes: { query: '', document: 'passage: ' } }),
      open: () =>
        ({
          async *embedAll(wanted: string[]) {
            texts.push(...wanted);
            if (wanted[0]!.includes('refused')) throw new MegaNestError('invalid_request', { detail: 'no' });
            yield await Promise.resolve(wanted.map(() => Float32Array.of(1, 0)));
          },
        }) as never,
    },
  );
  return { reembedding, embedded, texts };
}

it('embeds the documents that are left, with their headings, and names those that fail', async () => {
  const { reembedding, embedded, texts } = setUp();
  expect(await reembedding.start()).toMatchObject({ running: true, done: 0, left: 3 });
  await vi.waitFor(async () => expect(await reembedding.state()).toMatchObject({ running: false }));
  expect(texts).toContain('Top\ntext of a.txt');
  expect([...embedded.keys()]).toEqual(['a.txt', 'z.txt']);
  const { done, left, problems } = await reembedding.state();
  expect([done, left, problems.length]).toEqual([2, 1, 1]);
  expect(problems[0]).toMatch(/^refused\.txt: /);
  await reembedding.close();
});

it('does not start where nothing is left', async () => {
  const { reembedding, texts } = setUp([]);
  expect(await reembedding.start()).toMatchObject({ running: false, left: 0 });
  expect(texts).toEqual([]);
});
