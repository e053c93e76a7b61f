import type { MegaNestError } from '#platform/contracts';
import {
  ConversationsRepository,
  openDatabase,
  ResponseItemsRepository,
  ResponseLeasesRepository,
  ResponsesRepository,
  type Database,
  type NewStoredResponse,
  type ResponseEnd,
} from '#platform/storage';
import { startPostgres, type TestPostgres } from '#platform/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const leaseMs = 60_000;

function newResponse(id: string, changes: Partial<NewStoredResponse> = {}): NewStoredResponse {
  return {
    id,
    owner: 'alice',
    previousResponseId: null,
    conversationId: null,
    status: 'in_progress',
    background: true,
    snapshot: { id, z: 1, a: 2 },
    request: { model: 'm' },
    inputItems: [{ id: `${id}_in`, text: 'question' }],
    lease: { owner: 'gateway-1', ms: leaseMs },
    ...changes,
  };
}

function end(id: string, changes: Partial<ResponseEnd> = {}): ResponseEnd {
  return {
    status: 'completed',
    snapshot: { id, done: true },
    outputItems: [{ id: `${id}_out`, text: 'answer' }],
    joinsConversation: true,
    events: [],
    ...changes,
  };
}

describe('stored responses', () => {
  let postgres: TestPostgres;
  let database: Database;
  let responses: ResponsesRepository;
  let items: ResponseItemsRepository;
  let leases: ResponseLeasesRepository;
  let conversations: ConversationsRepository;

  beforeAll(async () => {
    postgres = await startPostgres();
    database = openDatabase({ connectionString: postgres.connectionString });
    await database.migrate();
    responses = new ResponsesRepository(database);
    items = new ResponseItemsRepository(database);
    leases = new ResponseLeasesRepository(database);
    conversations = new ConversationsRepository(database);
  });

  afterAll(async () => {
    await database?.close();
    await postgres?.stop();
  });

  async function finished(id: string, changes: Partial<NewStoredResponse> = {}): Promise<void> {
    await responses.insertFinished(newResponse(id, changes), end(id));
  }

  it('keeps a response for its owner only, with its fields in order, until it is deleted with all it has', async () => {
    await responses.insert(newResponse('r1'));
    expect(await responses.find('bob', 'r1')).toBeUndefined();
    expect(Object.keys((await responses.find('alice', 'r1'))?.snapshot ?? {})).toEqual(['id', 'z', 'a']);
    expect(await responses.finish('r1', 'gateway-1', end('r1'))).toBe(true);
    // Once more, as after a connection that broke behind the commit.
    expect(await responses.finish('r1', 'gateway-1', end('r1'))).toBe(true);
    expect(await responses.finish('r1', 'another', end('r1'))).toBe(false);
    expect(await responses.find('alice', 'r1')).toMatchObject({
      finished: true,
      request: null,
    });
    expect(await items.findByIds('alice', ['r1_in', 'r1_out', 'other'])).toEqual(
      new Map([
        ['r1_in', { id: 'r1_in', text: 'question' }],
        ['r1_out', { id: 'r1_out', text: 'answer' }],
      ]),
    );
    expect(await items.findByIds('bob', ['r1_in'])).toEqual(new Map());
    expect(await responses.delete('bob', 'r1')).toBe(false);
    expect(await responses.delete('alice', 'r1')).toBe(true);
    expect(await items.findByIds('alice', ['r1_in'])).toEqual(new Map());
  });

  it('answers the response that has the idempotency key already', async () => {
    const idempotency = { key: 'k', fingerprint: 'f' };
    expect(await responses.insert(newResponse('i1', { idempotency }))).toBeUndefined();
    expect(await responses.insert(newResponse('i2', { idempotency }))).toMatchObject({
      id: 'i1',
      fingerprint: 'f',
    });
    expect(await responses.insert(newResponse('i3', { idempotency, owner: 'bob' }))).toBeUndefined();
  });

  it('walks a chain from its beginning, and says what is missing or unfinished', async () => {
    await finished('c1');
    await finished('c2', { previousResponseId: 'c1' });
    await responses.insert(newResponse('c3', { previousResponseId: 'c2' }));
    const chain = await items.chain('alice', 'c3');
    expect(chain?.items.map(({ id }) => id)).toEqual(['c1_in', 'c1_out', 'c2_in', 'c2_out', 'c3_in']);
    expect(chain).toMatchObject({ unfinished: ['c3'], missing: null });
    await responses.delete('alice', 'c1');
    expect(await items.chain('alice', 'c2')).toMatchObject({ missing: 'c1' });
    expect(await items.chain('bob', 'c2')).toBeUndefined();
  });

  it('pages through input items in both orders', async () => {
    const inputItems = ['a', 'b', 'c', 'd'].map((id) => ({ id }));
    await finished('p1', { inputItems });
    const page = async (options: object) => {
      const { items: found, hasMore } = await items.inputPage('p1', { limit: 2, order: 'asc', ...options });
      return `${found.map(({ id }) => id).join('')}${hasMore ? '+' : ''}`;
    };
    expect(await page({})).toBe('ab+');
    expect(await page({ after: 'b' })).toBe('cd');
    expect(await page({ order: 'desc' })).toBe('dc+');
    expect(await page({ order: 'desc', after: 'c' })).toBe('ba');
    expect(await page({ before: 'b' })).toBe('a');
    expect(await page({ before: 'd' })).toBe('bc+');
    await expect(page({ after: 'x' })).rejects.toMatchObject({
      param: 'after',
    } satisfies Partial<MegaNestError>);
  });

  it('lets only the holder of a lease write, and hands an expired one over', async () => {
    await responses.insert(newResponse('l1', { lease: { owner: 'dead', ms: 0 } }));
    await responses.insert(newResponse('l2', { lease: { owner: 'alive', ms: leaseMs } }));
    expect(
      await leases.appendEvents(
        'l1',
        'dead',
        [{ sequence_number: 0 }, { sequence_number: 1 }],
        'in_progress',
      ),
    ).toBe(true);
    const [taken, ...others] = await leases.claimExpired('heir', leaseMs, { limit: 10, working: ['r0'] });
    expect([taken?.id, others]).toEqual(['l1', []]);
    expect(taken?.request).toMatchObject({ takeovers: 1 });
    expect(await leases.appendEvents('l1', 'dead', [{ sequence_number: 2 }], 'in_progress')).toBe(false);
    expect(await responses.finish('l1', 'dead', end('l1'))).toBe(false);
    expect(await leases.heartbeat([{ id: 'l1', owner: 'dead' }], leaseMs)).toEqual([]);
    expect(await leases.requestCancel('alice', 'l1')).toBe(true);
    const held = ['l1', 'l2'].map((id) => ({ id, owner: 'heir' }));
    expect(await leases.heartbeat(held, leaseMs)).toEqual([{ id: 'l1', cancelRequested: true }]);
    expect(await responses.finish('l1', 'heir', end('l1', { events: [{ sequence_number: 2 }] }))).toBe(true);
    expect(await leases.readEvents('l1', 0)).toEqual([{ sequence_number: 1 }, { sequence_number: 2 }]);
    expect(await leases.requestCancel('alice', 'l1')).toBe(false);
  });

  it('does not count it as a takeover where a stopping process hands a response over', async () => {
    const claim = async () => {
      const [taken] = await leases.claimExpired('heir', 0, { limit: 1, working: ['r0', 'l2'] });
      return taken;
    };
    await responses.insert(newResponse('h1', { lease: { owner: 'stopping', ms: leaseMs } }));
    await leases.release([{ id: 'h1', owner: 'somebody else' }]);
    expect(await claim()).toBeUndefined();
    await leases.release([{ id: 'h1', owner: 'stopping' }]);
    expect(await claim()).toMatchObject({ id: 'h1', request: { takeovers: 0 } });
    expect(await claim()).toMatchObject({ id: 'h1', request: { takeovers: 1 } });
    await leases.release([{ id: 'h1', owner: 'heir' }]);
    expect(await claim()).toMatchObject({ id: 'h1', request: { takeovers: 1 } });
    expect(await responses.delete('alice', 'h1')).toBe(true);
  });

  it('appends to a conversation in order, pages through it and merges what it held', async () => {
    await conversations.create('alice', { id: 'v1', metadata: { a: '1' }, items: [{ id: 'x' }] });
    await responses.insertFinished(
      newResponse('v1r', { conversationId: 'v1', inputItems: [{ id: 'y' }, { id: 'x' }] }),
      end('v1r', { outputItems: [{ id: 'z' }] }),
    );
    expect((await conversations.items('v1')).map(({ id }) => id)).toEqual(['x', 'y', 'z']);
    const page = await conversations.itemPage('v1', { limit: 2, order: 'desc', after: 'z' });
    expect(page).toEqual({ items: [{ id: 'y' }, { id: 'x' }], hasMore: false });
    expect(await conversations.findItem('v1', 'y')).toEqual({ id: 'y' });
    expect(await conversations.deleteItem('v1', 'y')).toBe(true);
    expect(await conversations.deleteItem('v1', 'y')).toBe(false);
    expect(await conversations.updateMetadata('alice', 'v1', (old) => ({ ...old, b: '2' }))).toMatchObject({
      metadata: { a: '1', b: '2' },
    });
    expect(await conversations.find('bob', 'v1')).toBeUndefined();
    expect(await conversations.delete('bob', 'v1')).toBe(false);
    expect(await conversations.delete('alice', 'v1')).toBe(true);
    expect(await responses.find('alice', 'v1r')).toBeDefined();
  });

  it('removes what is old but not what a younger response continues, and bounds the number', async () => {
    await database.transaction((transaction) => transaction.execute('DELETE FROM responses'));
    await finished('o1');
    await finished('o2', { previousResponseId: 'o1' });
    await finished('o3');
    await database.transaction((transaction) =>
      transaction.execute(
        `UPDATE responses SET created_at = now() - interval '9 days' WHERE id IN ('o1', 'o3')`,
      ),
    );
    expect(await responses.deleteOlderThan(5 * 24 * 60 * 60 * 1_000)).toBe(1);
    expect(await responses.find('alice', 'o1')).toBeDefined();
    expect(await responses.find('alice', 'o3')).toBeUndefined();
    const bounded = new ResponsesRepository(database, { maxCount: 1, maxBytes: 0 });
    expect(await bounded.deleteBeyond()).toBe(1);
    expect(await responses.find('alice', 'o2')).toBeDefined();
  });

  it('bounds the number of each owner, so that one removes nothing of another', async () => {
    await database.transaction((transaction) => transaction.execute('DELETE FROM responses'));
    await finished('victim', { owner: 'bob' });
    for (const id of ['a1', 'a2', 'a3', 'a4']) await finished(id);
    const bounded = new ResponsesRepository(database, { maxCount: 2, maxBytes: 0 });
    expect(await bounded.deleteBeyond()).toBe(2);
    expect(await responses.find('bob', 'victim')).toBeDefined();
  });
});
