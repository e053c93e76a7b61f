import {
  FilesRepository,
  IndexingLeasesRepository,
  UploadsRepository,
  VectorStoreFilesRepository,
  VectorStoresRepository,
  type IndexingTask,
} from '#platform/storage';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { document, search, startStorage, vector, type StorageFixture } from './storage-fixture.js';

const owner = 'me';
const fields = { name: '', description: null, metadata: {}, expiresDays: null };
const bounds = { maxCount: 6, maxBytes: 1_000_000 };
const leaseMs = 60_000;

let storage: StorageFixture;
let files: FilesRepository;
let stores: VectorStoresRepository;
let attached: VectorStoreFilesRepository;
let leases: IndexingLeasesRepository;

beforeAll(async () => {
  storage = await startStorage();
  files = new FilesRepository(storage.database);
  stores = new VectorStoresRepository(storage.database);
  attached = new VectorStoreFilesRepository(storage.database);
  leases = new IndexingLeasesRepository(storage.database);
});
afterAll(() => storage?.stop());

async function* bytesOf(text: string) {
  await Promise.resolve();
  yield Buffer.from(text);
}

async function addFile(id: string, expiresAfterSeconds?: number): Promise<void> {
  const bytes = await files.write(owner, { id, bounds }, bytesOf('text'));
  const facts = { filename: `${id}.txt`, purpose: 'assistants', mimeType: 'text/plain', expiresAfterSeconds };
  await files.publish(owner, id, facts, { bytes, bounds });
}

const attach = (storeId: string, fileId: string) =>
  attached.attach(storeId, [{ fileId, attributes: { a: 1 }, chunkTokens: 120, overlapTokens: 0 }]);

/** What dataprep does with a file. */
async function ingest({
  vectorStoreId,
  fileId,
}: Pick<IndexingTask, 'vectorStoreId' | 'fileId'>): Promise<string> {
  const chunks = [{ text: `Passage of ${fileId}`, embedding: vector(1, 0) }];
  const facts = { ...document(`${fileId}/x.txt`), collection: vectorStoreId, owner };
  return (await storage.documents.replaceDocument(facts, chunks)).documentId;
}

const passagesIn = async (collection: string) =>
  (await storage.chunks.search(search({ collection, owner, embedding: vector(1, 0) }))).map(
    ({ text }) => text,
  );

const run = (sql: string, values: string[] = []) =>
  storage.database.transaction((transaction) => transaction.execute(sql, values));

/** NULs are taken out of bound texts, so that this is the store's id to the database and not to a check of its prefix. */
const hidden = 'v\0s_owned';

describe('passages of a vector store', () => {
  const theirs = ['nobody', undefined].flatMap((other) =>
    ['vs_owned', hidden].map((collection) => ({ collection, other })),
  );

  beforeAll(async () => {
    await stores.create(owner, 'vs_owned', fields);
    await ingest({ vectorStoreId: 'vs_owned', fileId: 'file-owned' });
  });

  afterAll(async () => {
    await stores.delete(owner, 'vs_owned');
  });

  it.each(theirs)('are not found in $collection by $other', async ({ collection, other }) => {
    for (const searchType of ['similarity', 'lexical', 'hybrid', 'mmr'] as const) {
      const query = { collection, searchType, query: 'passage', owner: other, embedding: vector(1, 0) };
      expect(await storage.chunks.search(search(query))).toEqual([]);
    }
  });

  it.each(['vs_owned', hidden])('are not listed, deleted or replaced by name: %j', async (collection) => {
    const { documents } = storage;
    expect(await documents.list({ collection })).toEqual([]);
    expect(await documents.collections()).not.toContain('vs_owned');
    expect(await documents.deleteAll(collection)).toBe(0);
    expect(await documents.deleteByFilename('file-owned/x.txt', collection)).toBe(0);
    const facts = { ...document('file-owned/x.txt', 'other'), collection };
    const poison = [{ text: 'poison', embedding: vector(1, 0) }];
    expect(await documents.replaceDocument(facts, poison)).toMatchObject({ outcome: 'added' });
    expect(await passagesIn('vs_owned')).toEqual(['Passage of file-owned']);
    await documents.deleteAll(collection);
  });
});

describe('indexing under leases', () => {
  it('gives a file to one process, and to another one when that is silent', async () => {
    await addFile('file-a');
    await stores.create(owner, 'vs_a', fields);
    await attach('vs_a', 'file-a');
    const [task] = await leases.claim('one', leaseMs, 5);
    expect(task).toMatchObject({
      fileId: 'file-a',
      owner,
      filename: 'file-a.txt',
      attributes: { a: 1 },
      attempts: 1,
    });
    expect(await leases.claim('two', leaseMs, 5)).toEqual([]);
    expect(await leases.heartbeat('two', task!, leaseMs)).toBe(false);
    expect(await leases.heartbeat('one', task!, 0)).toBe(true);
    const [again] = await leases.claim('two', leaseMs, 5);
    expect(again?.attempts).toBe(2);
    expect(await leases.heartbeat('one', task!, leaseMs)).toBe(false);
    expect(await leases.fail('one', task!, { code: 'server_error', message: 'late' })).toBe(false);
    const documentId = await ingest(task!);
    expect(await leases.complete('one', task!, documentId)).toBe(false);
    expect(await passagesIn('vs_a')).toEqual(['Passage of file-a']);
    expect(await leases.complete('two', again!, documentId)).toBe(true);
    const file = await attached.find('vs_a', 'file-a');
    expect(file).toMatchObject({ status: 'completed', documentId });
    expect(file?.usageBytes).toBe('Passage of file-a'.length + 2 * 4);
    expect(await stores.find(owner, 'vs_a')).toMatchObject({ status: 'completed', fileCounts: { total: 1 } });
    expect(await stores.find('somebody', 'vs_a')).toBeUndefined();
  });

  it('leaves no passage of a file that was deleted while it was indexed', async () => {
    await addFile('file-b');
    await attach('vs_a', 'file-b');
    const [task] = await leases.claim('one', leaseMs, 5);
    const documentId = await ingest(task!);
    await files.delete(owner, 'file-b');
    expect(await leases.complete('one', task!, documentId)).toBe(false);
    expect(await passagesIn('vs_a')).toEqual(['Passage of file-a']);
  });

  it('puts a file back for later, and removes what a dead process left', async () => {
    await addFile('file-c');
    await attach('vs_a', 'file-c');
    const [task] = await leases.claim('one', leaseMs, 5);
    await leases.postpone('one', task!, { pauseMs: 60_000, counted: true });
    expect(await leases.claim('one', leaseMs, 5)).toEqual([]);
    await run(`UPDATE vector_store_files SET lease_until = now()`);
    const [later] = await leases.claim('one', leaseMs, 5);
    expect(later?.attempts).toBe(2);
    await ingest(later!);
    await attached.detach('vs_a', 'file-c');
    await run(`UPDATE documents SET created_at = now() - interval '2 hours'`);
    expect(await leases.deleteOrphans()).toBe(1);
    expect(await passagesIn('vs_a')).toEqual(['Passage of file-a']);
  });
});

describe('what has had its time', () => {
  it('goes: files with their passages, and the content of stores that nobody used', async () => {
    await addFile('file-d', 3_600);
    await stores.create(owner, 'vs_d', { ...fields, expiresDays: 1 });
    for (const fileId of ['file-a', 'file-d']) {
      await attach('vs_d', fileId);
      const [task] = await leases.claim('one', leaseMs, 1);
      await leases.complete('one', task!, await ingest(task!));
    }
    await run(`UPDATE files SET expires_at = now() - interval '1 second' WHERE id = $1`, ['file-d']);
    expect(await files.find(owner, 'file-d')).toBeUndefined();
    expect(await files.deleteExpired()).toBe(1);
    expect(await passagesIn('vs_d')).toEqual(['Passage of file-a']);
    await run(`UPDATE vector_stores SET last_active_at = now() - interval '25 hours' WHERE id = $1`, [
      'vs_d',
    ]);
    expect(await stores.find(owner, 'vs_d')).toMatchObject({ status: 'expired' });
    await stores.touch(['vs_d']);
    expect(await stores.emptyExpired()).toBe(1);
    expect(await passagesIn('vs_d')).toEqual([]);
    expect(await stores.find(owner, 'vs_d')).toMatchObject({ status: 'expired', fileCounts: { total: 0 } });
    expect(await passagesIn('vs_a')).toEqual(['Passage of file-a']);
  });
});

describe('bounds', () => {
  it('hold for the number and the size of an owner’s files, and a broken upload leaves nothing', async () => {
    async function* breaking() {
      yield* bytesOf('begun');
      throw new Error('the client left');
    }
    const id = 'file-broken';
    await expect(files.write(owner, { id, bounds }, breaking())).rejects.toThrow('the client left');
    const { rows } = await files.list(owner, { limit: 9, order: 'asc' });
    expect(rows.map((file) => file.id)).toEqual(['file-a', 'file-c']);
    await expect(
      files.write(owner, { id, bounds: { ...bounds, maxCount: 2 } }, bytesOf('x')),
    ).rejects.toMatchObject({
      status: 413,
    });
    const bytes = await files.write(owner, { id, bounds }, bytesOf('x'));
    const facts = { filename: 'x', purpose: 'assistants', mimeType: 'text/plain' };
    const tight = { bytes, bounds: { maxCount: 9, maxBytes: 8 } };
    await expect(files.publish(owner, id, facts, tight)).rejects.toMatchObject({ status: 413 });
    expect(await run('DELETE FROM files WHERE id = $1', [id])).toBe(0);
  });

  it('hold while bytes are written, and for the parts of an upload', async () => {
    const uploads = new UploadsRepository(storage.database);
    const facts = { filename: 'x', purpose: 'assistants', mimeType: 'text/plain' };
    const tight = { maxCount: 100, maxBytes: 1_000 };
    const rows = () => run(`UPDATE files SET filename = filename WHERE owner = 'bounded'`);
    async function* bytes(count: number) {
      await Promise.resolve();
      yield Buffer.alloc(count);
    }
    const writing = files.write('bounded', { id: 'file-large', bounds: tight }, bytes(1_001));
    await expect(writing).rejects.toMatchObject({ code: 'payload_too_large', param: 'file' });
    await uploads.create('bounded', 'upload_a', { ...facts, bytes: 300 });
    const send = async (id: string, count: number, uploadId = 'upload_a') => {
      const written = await files.write('bounded', { id, uploadId, bounds: tight }, bytes(count));
      await uploads.addPart('bounded', uploadId, { id, bytes: written });
    };
    await send('part_1', 200);
    await expect(send('part_2', 200)).rejects.toMatchObject({ code: 'payload_too_large', param: 'data' });
    await send('part_3', 100);
    await uploads.create('bounded', 'upload_b', { ...facts, bytes: 5_000 });
    await send('part_4', 700, 'upload_b');
    await expect(send('part_5', 1, 'upload_b')).rejects.toMatchObject({ code: 'payload_too_large' });
    expect(await rows()).toBe(3);
  });
});
