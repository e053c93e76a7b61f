import {
  ConversationsRepository,
  DocumentsRepository,
  openMigratedDatabase,
  ResponsesRepository,
  StoredCompletionsRepository,
  UserRecordsRepository,
  type Database,
  type NewStoredResponse,
} from '#platform/storage';
import { startPostgres, type TestPostgres } from '#platform/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

const kilobyte = 1_024;

function newResponse(id: string, owner: string, text: string): NewStoredResponse {
  return {
    id,
    owner,
    previousResponseId: null,
    conversationId: null,
    status: 'in_progress',
    background: false,
    snapshot: { id },
    request: null,
    inputItems: [{ id: `${id}_in`, text }],
    lease: { owner: 'gateway-1', ms: 60_000 },
  };
}

const end = { status: 'completed', snapshot: {}, outputItems: [], joinsConversation: true, events: [] };

describe('what one owner may keep', () => {
  let postgres: TestPostgres;
  let database: Database;

  beforeAll(async () => {
    postgres = await startPostgres();
    database = await openMigratedDatabase({ connectionString: postgres.connectionString });
  });
  afterAll(async () => {
    await database?.close();
    await postgres?.stop();
  });
  beforeEach(() =>
    database.transaction(async (transaction) => {
      const tables = 'responses, stored_completions, conversations, user_records, documents';
      await transaction.query(`TRUNCATE ${tables} CASCADE`);
    }),
  );

  const idsOf = async (table: string, owner: string) => {
    const rows = await database.transaction((transaction) =>
      transaction.query<{ id: string }>(`SELECT id FROM ${table} WHERE owner = $1 ORDER BY created_at`, [
        owner,
      ]),
    );
    return rows.map(({ id }) => id);
  };

  it('is bounded in bytes of responses: the oldest of this owner go while more come', async () => {
    const responses = new ResponsesRepository(database, { maxCount: 0, maxBytes: 100 * kilobyte });
    const write = (id: string, owner: string) =>
      responses.insertFinished(newResponse(id, owner, 'x'.repeat(10 * kilobyte)), end);
    await write('victim', 'bob');
    for (let index = 0; index < 30; index += 1) await write(`a${index}`, 'alice');
    const kept = await idsOf('responses', 'alice');
    expect(kept.length).toBeGreaterThan(5);
    expect(kept.length).toBeLessThan(10);
    expect(kept.at(-1)).toBe('a29');
    expect(await idsOf('responses', 'bob')).toEqual(['victim']);
  });

  it('is bounded in the number of chat completions, and keeps one that is greater than the bound', async () => {
    const completions = new StoredCompletionsRepository(database, { maxCount: 10, maxBytes: kilobyte });
    const write = (id: string, text: string) =>
      completions.insert('alice', { id, model: 'm', completion: { text }, messages: [], metadata: {} });
    for (let index = 0; index < 25; index += 1) await write(`c${index}`, '');
    expect((await idsOf('stored_completions', 'alice')).length).toBeLessThanOrEqual(11);
    await write('great', 'x'.repeat(5 * kilobyte));
    expect(await idsOf('stored_completions', 'alice')).toEqual(['great']);
  });

  it('is bounded in bytes of conversations and records, which are refused and not removed', async () => {
    const maxBytes = 50 * kilobyte;
    const conversations = new ConversationsRepository(database, maxBytes);
    const prompts = new UserRecordsRepository<{ text: string }>(database, 'prompt', maxBytes);
    const text = 'x'.repeat(20 * kilobyte);
    const tooLarge = { code: 'payload_too_large', status: 413 };
    await conversations.create('alice', { id: 'v1', metadata: {}, items: [{ id: 'i1', text }] });
    await prompts.create({ owner: 'alice', user: 'u1' }, 'p1', { text });
    await expect(conversations.addItems('alice', 'v1', [{ id: 'i2', text }])).rejects.toMatchObject(tooLarge);
    await expect(prompts.create({ owner: 'alice', user: 'u2' }, 'p2', { text })).rejects.toMatchObject(
      tooLarge,
    );
    await expect(
      prompts.update({ owner: 'alice', user: 'u1' }, 'p1', { text: text + text }),
    ).rejects.toMatchObject(tooLarge);
    await expect(
      conversations.replaceItems('alice', 'v1', [{ id: 'i3', text: text + text }]),
    ).rejects.toMatchObject(tooLarge);
    expect((await conversations.items('v1')).map(({ id }) => id)).toEqual(['i1']);
    // Another owner has room, and so has this one once something was deleted.
    await conversations.create('bob', { id: 'v2', metadata: {}, items: [{ id: 'i1', text }] });
    expect(await conversations.deleteItem('v1', 'i1')).toBe(true);
    await conversations.addItems('alice', 'v1', [{ id: 'i2', text }]);
    await expect(conversations.requireRoom('alice')).resolves.toBeUndefined();
  });

  it('counts a conversation that is empty too', async () => {
    const conversations = new ConversationsRepository(database, 10 * kilobyte);
    const create = (id: string) => conversations.create('alice', { id, metadata: {}, items: [] });
    for (let index = 0; index < 10; index += 1) await create(`v${index}`);
    await expect(create('one too many')).rejects.toMatchObject({ code: 'payload_too_large' });
  });

  it('forgets conversations that did not change for as long as the setting says, with their histories', async () => {
    const conversations = new ConversationsRepository(database);
    const histories = new UserRecordsRepository<object>(database, 'chathistory');
    for (const id of ['old', 'used']) {
      await conversations.create('alice', { id, metadata: { user: 'u' }, items: [] });
      await histories.create({ owner: 'alice', user: 'u' }, id, {});
    }
    await database.transaction(async (transaction) => {
      for (const table of ['conversations', 'user_records'])
        await transaction.execute(`UPDATE ${table} SET updated_at = now() - interval '9 days'`);
    });
    await conversations.addItems('alice', 'used', [{ id: 'i1' }]);
    expect(await conversations.deleteOlderThan(5 * 24 * 60 * 60 * 1_000)).toBe(1);
    expect(await idsOf('conversations', 'alice')).toEqual(['used']);
    expect(await idsOf('user_records', 'alice')).toEqual(['used']);
  });

  it('is bounded in bytes of documents, of each owner and of what all share', async () => {
    const documents = new DocumentsRepository(database, 100 * kilobyte);
    const write = (filename: string, text: string, owner?: string) =>
      documents.replaceDocument(
        {
          filename,
          contentHash: text.slice(0, 1) + text.length,
          mimeType: 'text/plain',
          bytes: 1,
          embeddingModel: 'm',
          ...(owner && { owner, collection: 'vs_1' }),
        },
        [{ text, embedding: new Float32Array(384).fill(0.1) }],
      );
    const text = 'x'.repeat(60 * kilobyte);
    await write('a.txt', text);
    await expect(write('b.txt', text)).rejects.toMatchObject({
      code: 'payload_too_large',
      message: expect.stringContaining('DOCUMENTS_LIMIT_BYTES') as string,
    });
    await write('b.txt', text, 'alice');
    // The one that is replaced does not count.
    expect(await write('a.txt', 'y'.repeat(90 * kilobyte))).toMatchObject({ outcome: 'replaced' });
  });
});
