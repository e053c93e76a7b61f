import { Readable } from 'node:stream';
import { MegaNestError } from '#platform/contracts';
import {
  DocumentsRepository,
  openDatabase,
  OriginalsRepository,
  ReembeddingRepository,
  type Database,
} from '#platform/storage';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { document, search, startStorage, vector, type StorageFixture } from './storage-fixture.js';

describe('DocumentsRepository', () => {
  let storage: StorageFixture;
  let documents: DocumentsRepository;

  beforeAll(async () => {
    storage = await startStorage();
    documents = storage.documents;
  });

  afterAll(() => storage?.stop());

  beforeEach(async () => {
    for (const { name } of await documents.collections()) await documents.deleteAll(name);
  });

  const oneChunk = [{ text: 'some words', embedding: vector(1, 0, 0) }];
  const twoChunks = [
    { text: 'first half', embedding: vector(1, 0, 0) },
    { text: 'second half', embedding: vector(0, 1, 0) },
  ];

  it('adds, leaves the same alone, replaces what changed', async () => {
    const added = await documents.replaceDocument(document('a.txt', 'one'), oneChunk);
    expect(added).toMatchObject({ outcome: 'added', chunks: 1 });
    const again = await documents.replaceDocument(document('a.txt', 'one'), oneChunk);
    expect(again).toEqual({ ...added, outcome: 'unchanged' });
    const replaced = await documents.replaceDocument(document('a.txt', 'two'), twoChunks);
    expect(replaced).toMatchObject({ outcome: 'replaced', chunks: 2 });
    expect(await documents.count()).toEqual({ documents: 1, chunks: 2 });
    expect(await documents.findVersion({ filename: 'a.txt' })).toEqual({
      id: replaced.documentId,
      contentHash: 'two',
      embeddingModel: 'test-model',
      chunks: 2,
      reading: {},
    });
    expect(await documents.findVersion({ filename: 'b.txt' })).toBeUndefined();
  });

  it('keeps the file of a document in pieces until it is deleted, up to a limit for all', async () => {
    const originals = new OriginalsRepository(storage.database, 1_000_000);
    const [file, small] = [Buffer.alloc(600_000, 'ab'), Buffer.from('small')];
    const piecesOf = (bytes: Buffer) => Readable.from([bytes.subarray(0, 100), bytes.subarray(100)]);
    const { documentId } = await documents.replaceDocument(document('a.txt'), oneChunk);
    const other = await documents.replaceDocument(document('b.txt'), oneChunk);
    expect(await originals.keep(documentId, file.length, piecesOf(file))).toBe('kept');
    expect(await originals.keep(other.documentId, file.length, piecesOf(file))).toBe('no_room');
    expect(await originals.keep(other.documentId, small.length, piecesOf(small))).toBe('kept');
    const found: Buffer[] = [];
    for (let at = 0; at < file.length; at += found.at(-1)!.length) {
      const piece = await originals.readPiece(documentId.toUpperCase(), at);
      expect(piece).toMatchObject({ filename: 'a.txt', mimeType: 'text/plain', bytes: file.length });
      found.push(piece!.content);
    }
    expect(Buffer.concat(found).equals(file)).toBe(true);
    expect(await documents.list({ search: 'a.txt' })).toMatchObject([{ originalBytes: file.length }]);
    await documents.deleteById(documentId);
    expect(await originals.readPiece(documentId, 0)).toBeUndefined();
    expect(await storage.database.query('SELECT DISTINCT document_id FROM document_originals')).toHaveLength(
      1,
    );
    expect(await originals.keep(documentId, small.length, piecesOf(small))).toBe('gone');
  });

  it('shows a file only when it is whole', async () => {
    const originals = new OriginalsRepository(storage.database, 1_000_000);
    const { documentId } = await documents.replaceDocument(document('a.txt'), oneChunk);
    const broken = async function* () {
      yield Buffer.alloc(300_000);
      expect(await originals.readPiece(documentId, 0)).toBeUndefined();
      throw new Error('broken');
    };
    await expect(originals.keep(documentId, 300_000, broken())).rejects.toThrow('broken');
    expect(await storage.database.query('SELECT 1 FROM document_originals')).toEqual([]);
    expect(await documents.list({})).toMatchObject([expect.not.objectContaining({ originalBytes: 300_000 })]);
  });

  it('replaces a document that another model embedded', async () => {
    await documents.replaceDocument(document('a.txt'), oneChunk);
    const other = { ...document('a.txt'), embeddingModel: 'another' };
    const wider = [{ text: 'some words', embedding: vector(1, 0, 0, 0) }];
    expect(await documents.replaceDocument(other, wider)).toMatchObject({ outcome: 'replaced' });
  });

  it('replaces the vectors of documents of other models at once, and leaves changed ones alone', async () => {
    const stored = new ReembeddingRepository(storage.database, documents.indexer);
    await documents.replaceDocument(document('a.txt'), twoChunks);
    await documents.replaceDocument(document('b.txt', 'b'), oneChunk);
    expect(await stored.count('newer')).toBe(2);
    const one = (await stored.next('newer'))!;
    const two = (await stored.next('newer', one.id))!;
    const [first, other] = one.filename === 'a.txt' ? [one, two] : [two, one];
    const chunks = await stored.chunks(first.id);
    expect(chunks.map(({ text }) => text)).toEqual(['first half', 'second half']);
    const embedded = chunks.map(({ id }, index) => ({ id, embedding: vector(0, 0, index, 1) }));
    // A document with another number of chunks is not the one that was read.
    expect(await stored.replace(first, 'newer', embedded.slice(1))).toBe(false);
    expect(await stored.replace(first, 'newer', embedded)).toBe(true);
    expect(await stored.replace(first, 'newer', embedded)).toBe(false);
    expect(await documents.findVersion({ filename: 'a.txt' })).toMatchObject({ embeddingModel: 'newer' });
    const hits = await storage.chunks.search(search({ embedding: vector(0, 0, 0, 1) }));
    expect(hits.map(({ text }) => text)).toEqual(['first half', 'second half']);
    expect(await stored.next('newer')).toEqual(other);
    expect(await stored.next('newer', other.id)).toBeUndefined();
    expect(await stored.count('newer')).toBe(1);
  });

  it('lets uploads of one name race: one document, whole, is left', async () => {
    const { connectionString } = storage.postgres;
    const databases = [1, 2, 3, 4].map(() => openDatabase({ connectionString, maxConnections: 1 }));
    const outcomes = await Promise.all(
      databases.map((database, index) =>
        new DocumentsRepository(database).replaceDocument(
          document('raced.txt', `version ${index % 2}`),
          index % 2 === 0 ? oneChunk : twoChunks,
        ),
      ),
    );
    await Promise.all(databases.map((database) => database.close()));
    expect(outcomes.filter(({ outcome }) => outcome === 'added')).toHaveLength(1);
    const [stored, ...others] = await documents.list();
    expect(others).toEqual([]);
    const version = await documents.findVersion({ filename: 'raced.txt' });
    expect(stored?.chunks).toBe(version?.contentHash === 'version 0' ? 1 : 2);
    expect(await documents.count()).toEqual({ documents: 1, chunks: stored?.chunks });
  });

  it('lists a part of the documents, by name and in pages', async () => {
    for (const name of ['Plan 2025.md', 'plan 2026.md', '100%.md'])
      await documents.replaceDocument(document(name, name), oneChunk);
    const names = async (page: Parameters<typeof documents.list>[0]) =>
      (await documents.list(page)).map(({ filename }) => filename);
    expect(await names({ search: 'PLAN' })).toEqual(['plan 2026.md', 'Plan 2025.md']);
    expect(await names({ search: '%' })).toEqual(['100%.md']);
    expect(await names({ offset: 1, limit: 1 })).toEqual(['plan 2026.md']);
  });

  it('reads the chunks of a document in order, and none of a private one', async () => {
    const { documentId } = await documents.replaceDocument(document('a.txt'), twoChunks);
    const read = await documents.readChunks(documentId, 1, 10);
    expect(read).toMatchObject({
      document: { filename: 'a.txt', chunks: 2 },
      chunks: [{ index: 1, text: 'second half' }],
    });
    expect(read?.chunks).toHaveLength(1);
    expect(await documents.readChunks('no-uuid', 0, 10)).toBeUndefined();
    const owned = { ...document('b.txt'), collection: 'vs_1', owner: 'me' };
    const kept = await documents.replaceDocument(owned, oneChunk);
    expect(await documents.readChunks(kept.documentId, 0, 10)).toBeUndefined();
    expect(await documents.deleteAll('vs_1')).toBe(0);
    await storage.database.transaction((transaction) =>
      transaction.execute('DELETE FROM documents WHERE owner IS NOT NULL'),
    );
  });

  it('stores nothing when one chunk is wrong', async () => {
    const uneven = [...oneChunk, { text: 'narrow', embedding: vector(1) }];
    await expect(documents.replaceDocument(document('a.txt'), uneven)).rejects.toMatchObject({
      code: 'invalid_request',
      param: 'chunks[1].embedding',
    });
    const zero = [{ text: 'nothing', embedding: vector(0, 0, 0) }];
    await expect(documents.replaceDocument(document('a.txt'), zero)).rejects.toMatchObject({
      param: 'chunks[0].embedding',
    });
    expect(await documents.count()).toEqual({ documents: 0, chunks: 0 });
  });

  it('writes what a chunk must know of its document into its metadata', async () => {
    const { documentId } = await documents.replaceDocument(
      {
        ...document('a.txt'),
        source: 'https://example.org/a',
        metadata: { team: 'blue', filename: 'forged' },
      },
      [{ text: 'words', embedding: vector(1, 0, 0), metadata: { heading: 'Top > Sub' } }],
    );
    const [hit] = await storage.chunks.search(search({ embedding: vector(1, 0, 0) }));
    expect(hit?.metadata).toEqual({
      document_id: documentId,
      filename: 'a.txt',
      source: 'https://example.org/a',
      chunk_index: 0,
      team: 'blue',
      heading: 'Top > Sub',
    });
  });

  it('takes text that Postgres would refuse', async () => {
    const odd = 'NUL \0 and half a pair \uD83D end 😀';
    await documents.replaceDocument({ ...document('odd\0.txt', 'odd'), metadata: { note: odd } }, [
      { text: odd, embedding: vector(1, 0, 0) },
    ]);
    const [hit] = await storage.chunks.search(search({ searchType: 'lexical', query: 'half\0 pair' }));
    expect(hit?.text).toBe('NUL  and half a pair \uFFFD end 😀');
    expect(hit?.metadata).toMatchObject({ note: hit?.text, filename: 'odd.txt' });
    expect(await documents.deleteByFilename('odd\0.txt')).toBe(1);
  });

  it('takes a document of many chunks, and one of none', async () => {
    const many = Array.from({ length: 250 }, (_unused, index) => ({
      text: `sentence number ${index}`,
      embedding: vector(1, index, index % 7),
    }));
    expect(await documents.replaceDocument(document('long.txt'), many)).toMatchObject({ chunks: 250 });
    expect(await documents.replaceDocument(document('empty.txt'), [])).toMatchObject({ chunks: 0 });
    expect(await documents.count()).toEqual({ documents: 2, chunks: 250 });
  });

  it('writes the parts of a large document again that a missing connection, or a lost answer, has interrupted', async () => {
    const { database } = storage;
    let transactions = 0;
    const away = (how: string) => new MegaNestError('service_unavailable', { cause: new Error(how) });
    /** The second part and the last step get no connection at first; the third part and that step lose their answer. */
    const faulty: Database['transaction'] = async (work, options) => {
      transactions += 1;
      if ([2, 6].includes(transactions)) throw away('timeout exceeded when trying to connect');
      const result = await database.transaction(work, options);
      if ([4, 7].includes(transactions)) throw away('Connection terminated unexpectedly');
      return result;
    };
    const flaky = Object.create(database, { transaction: { value: faulty } }) as Database;
    const chunks = Array.from({ length: 150 }, (_unused, index) => ({
      text: `flaky ${index}`,
      embedding: vector(1, index),
    }));
    const outcome = await new DocumentsRepository(flaky).replaceDocument(document('flaky.txt'), chunks);
    expect(outcome).toMatchObject({ chunks: 150, outcome: 'added' });
    expect(transactions).toBeGreaterThan(7);
    const rows = await database.query<{ text: string }>(
      'SELECT text FROM chunks WHERE document_id = $1 ORDER BY position',
      [outcome.documentId],
    );
    expect(rows.map(({ text }) => text)).toEqual(chunks.map(({ text }) => text));
    expect(await documents.deleteByFilename('flaky.txt')).toBe(1);
  });

  it('lets searches in while it writes a large document, and shows it only whole', async () => {
    const chunksOf = (version: string, count: number) =>
      Array.from({ length: count }, (_unused, index) => ({
        text: `${version} sentence`,
        embedding: vector(1, index, index % 7),
      }));
    await documents.replaceDocument(document('big.txt', 'old'), chunksOf('old', 60));
    const seen: string[] = [];
    const writing = { isDone: false };
    const replaced = documents
      .replaceDocument(document('big.txt', 'new'), chunksOf('new', 600))
      .finally(() => (writing.isDone = true));
    while (!writing.isDone) {
      const [byVector, byWords, counts] = await Promise.all([
        storage.chunks.search(search({ embedding: vector(1, 0, 0), k: 200 })),
        storage.chunks.search(search({ searchType: 'lexical', query: 'sentence', k: 200 })),
        documents.count(),
      ]);
      for (const hits of [byVector, byWords]) {
        const versions = new Set(hits.map(({ text }) => text));
        expect(versions.size).toBe(1);
        seen.push(...versions);
      }
      expect([60, 600]).toContain(counts.chunks);
    }
    expect(await replaced).toMatchObject({ outcome: 'replaced', chunks: 600 });
    expect(seen.filter((text) => text === 'old sentence').length).toBeGreaterThan(2);
    expect(await documents.count()).toEqual({ documents: 1, chunks: 600 });
  });

  it('writes while later chunks are made, and leaves nothing of a document whose chunks fail', async () => {
    const part = (start: number) =>
      Array.from({ length: 30 }, (_unused, index) => ({ text: 't', embedding: vector(1, start + index, 0) }));
    const pendingBytes = () =>
      storage.database.transaction(async (transaction) => {
        const [row] = await transaction.query<{ bytes: string }>(
          'SELECT coalesce(sum(stored_bytes), 0) AS bytes FROM documents WHERE pending_since IS NOT NULL',
        );
        return Number(row?.bytes);
      });
    async function* failing() {
      for (const start of [0, 30, 60, 90]) yield part(start);
      expect(await pendingBytes()).toBeGreaterThan(0);
      throw new Error('the engine broke');
    }
    await expect(documents.replaceDocument(document('a.txt'), failing())).rejects.toThrow('the engine broke');
    expect(await pendingBytes()).toBe(0);
    async function* whole() {
      await Promise.resolve();
      yield part(0);
      yield part(30);
    }
    expect(await documents.replaceDocument(document('a.txt'), whole())).toMatchObject({ chunks: 60 });
  });

  it('stores small documents that come together in few transactions, and each of them whole', async () => {
    const strange = String.raw`a "quoted", {braced} \ back\slashed NULL text, it's`;
    const small = Array.from({ length: 100 }, (_unused, index) => ({
      facts: document(`${index} ${strange}`, 'first'),
      chunks: Array.from({ length: 1 + (index % 3) }, (_chunk, position) => ({
        text: `${strange} ${index} ${position}`,
        metadata: { heading: strange, index },
        // Not all of one width.
        embedding: index % 2 === 0 ? vector(1, index, position) : vector(1, index, position, 2),
      })),
    }));
    await documents.replaceDocument({ ...small[7]!.facts, contentHash: 'old' }, oneChunk);
    await documents.replaceDocument(small[8]!.facts, small[8]!.chunks);
    const transactions = vi.spyOn(storage.database, 'transaction');
    const twice = documents.replaceDocument({ ...small[9]!.facts, contentHash: 'other' }, oneChunk);
    const outcomes = await Promise.all(
      small.map(({ facts, chunks }) => documents.replaceDocument(facts, chunks)),
    );
    expect(await twice).toMatchObject({ outcome: 'added' });
    expect(transactions.mock.calls.length).toBeLessThan(15);
    const expected = (index: number) => ({ 7: 'replaced', 8: 'unchanged', 9: 'replaced' })[index] ?? 'added';
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(small.map((_each, index) => expected(index)));
    expect(await documents.count()).toEqual({
      documents: 100,
      chunks: small.reduce((sum, { chunks }) => sum + chunks.length, 0),
    });
    for (const index of [8, 11, 98]) {
      const { documentId, chunks } = outcomes[index]!;
      const stored = await documents.readChunks(documentId, 0, 10);
      expect(stored?.document).toMatchObject({ filename: `${index} ${strange}`, chunks });
      expect(stored?.chunks.map(({ text }) => text)).toEqual(small[index]!.chunks.map(({ text }) => text));
      expect(stored?.chunks[0]?.metadata).toMatchObject({ heading: strange, index, chunk_index: 0 });
      const { embedding } = small[index]!.chunks[0]!;
      const [nearest] = await storage.chunks.search(search({ embedding, k: 1, filter: { index } }));
      expect(nearest?.score).toBeCloseTo(1, 5);
    }
    const versions = await Promise.all(small.map(({ facts }) => documents.findVersion(facts)));
    expect(versions.map((version) => version?.id)).toEqual(outcomes.map(({ documentId }) => documentId));
    expect(await documents.findVersion({ filename: 'absent' })).toBeUndefined();
  });

  it('keeps collections apart, lists and deletes', async () => {
    await documents.replaceDocument(document('a.txt'), oneChunk);
    const { documentId } = await documents.replaceDocument(
      { ...document('a.txt'), collection: 'other', source: 'https://example.org' },
      oneChunk,
    );
    expect(await documents.collections()).toEqual([
      { name: 'default', documents: 1 },
      { name: 'other', documents: 1 },
    ]);
    expect(await documents.list({ collection: 'other' })).toMatchObject([
      { id: documentId, filename: 'a.txt', collection: 'other', source: 'https://example.org', bytes: 10 },
    ]);
    expect(await documents.list()).toHaveLength(2);
    expect(await documents.deleteByFilename('a.txt', 'third')).toBe(0);
    expect(await documents.deleteById('no uuid')).toBe(0);
    expect(await documents.deleteById(documentId.toUpperCase())).toBe(1);
    expect(await documents.count()).toEqual({ documents: 1, chunks: 1 });
    expect(await documents.deleteAll()).toBe(1);
    expect(await storage.chunks.search(search({ embedding: vector(1, 0, 0) }))).toEqual([]);
  });
});
