import type { RunReceipt } from '#platform/dag';
import { describe, expect, it } from 'vitest';
import { degradedSteps, searchedQueries, ReceiptStore } from './receipt-store.js';

const receipt = (megaService: string): RunReceipt => ({
  megaService,
  state: 'ok',
  startedAt: 0,
  runMs: 1,
  nodes: [],
});
const run = (megaService: string) => ({
  receipt: () => receipt(megaService),
  settled: Promise.resolve(receipt(megaService)),
});
const key = (requestId: string, megaService = 'chatqna', owner = 'me') => ({ requestId, owner, megaService });
const bounds = { maxCount: 10, maxBytes: 1e6, maxAgeMs: 1000 };

describe('ReceiptStore', () => {
  it('finds a receipt by its request', () => {
    const store = new ReceiptStore(bounds, () => 0);
    store.add(key('a'), run('chatqna'));
    expect(store.find('me', 'a')?.receipt.megaService).toBe('chatqna');
    expect(store.find('me', 'b')).toBeUndefined();
  });

  it('keeps the newest ones only', () => {
    const store = new ReceiptStore({ ...bounds, maxCount: 2 }, () => 0);
    for (const id of ['a', 'b', 'c']) store.add(key(id), run('chatqna'));
    expect(store.find('me', 'a')).toBeUndefined();
    expect(store.recent('me', 'chatqna', 5).map(({ requestId }) => requestId)).toEqual(['c', 'b']);
  });

  it('forgets them with age', () => {
    let now = 0;
    const store = new ReceiptStore(bounds, () => now);
    store.add(key('a'), run('chatqna'));
    now = 1001;
    expect(store.find('me', 'a')).toBeUndefined();
  });

  it('lists those of one mega service', () => {
    const store = new ReceiptStore(bounds, () => 0);
    store.add(key('a'), run('chatqna'));
    store.add(key('b', 'other'), run('other'));
    expect(store.recent('me', 'other', 5).map(({ requestId }) => requestId)).toEqual(['b']);
  });

  it('shows nobody the receipts of others, and lets nobody replace them', () => {
    const store = new ReceiptStore(bounds, () => 0);
    store.add(key('a'), run('chatqna'));
    expect(store.find('you', 'a')).toBeUndefined();
    expect(store.recent('you', 'chatqna', 5)).toEqual([]);
    store.add(key('a', 'other', 'you'), run('other'));
    expect(store.find('me', 'a')?.receipt.megaService).toBe('chatqna');
  });

  it('lets go of the run once it has settled', async () => {
    const store = new ReceiptStore(bounds, () => 0);
    let asked = 0;
    const settled = Promise.resolve({ ...receipt('chatqna'), runMs: 7 });
    store.add(key('a'), { receipt: () => ({ ...receipt('chatqna'), runMs: ++asked }), settled });
    expect(store.find('me', 'a')?.receipt.runMs).toBe(1);
    await settled;
    expect(store.find('me', 'a')?.receipt.runMs).toBe(7);
    expect(asked).toBe(1);
  });

  it('is bounded in bytes', async () => {
    const store = new ReceiptStore({ ...bounds, maxBytes: 5000 }, () => 0);
    for (const id of ['a', 'b', 'c']) {
      const large = { ...receipt('chatqna'), nodes: [], megaService: 'x'.repeat(2000) };
      store.add(key(id), { receipt: () => large, settled: Promise.resolve(large) });
    }
    await Promise.resolve();
    expect(store.find('me', 'a')).toBeUndefined();
    expect(store.find('me', 'c')).toBeDefined();
  });
});

type Node = RunReceipt['nodes'][number];

const report = (...nodes: (Pick<Node, 'node' | 'state'> & Partial<Node>)[]): RunReceipt => ({
  megaService: 'chatqna',
  state: 'ok',
  startedAt: 0,
  runMs: 1,
  nodes: nodes.map((node) => ({ service: 's', queuedMs: 0, runMs: 1, attempts: 1, ...node })),
});

it('names nodes that an error skipped, and no others', () => {
  const run = report(
    { node: 'embedding', state: 'ok', details: { model: 'm' } },
    { node: 'reranking', state: 'skipped', why: 'too late', code: 'deadline_exceeded' },
    { node: 'maybe', state: 'skipped', why: 'when: false' },
    { node: 'llm', state: 'failed', why: 'broken', code: 'internal_error' },
  );
  expect(degradedSteps(run)).toEqual([{ name: 'reranking', reason: 'deadline_exceeded' }]);
});

it('names what a node did without, and the nodes of a nested mega service', () => {
  const nested = report({ node: 'reranking', state: 'skipped', code: 'overloaded' });
  const run = report(
    { node: 'retrieval', state: 'ok', details: { degraded: { search_queries: 'too_long' } } },
    { node: 'inner', state: 'ok', nested },
  );
  expect(degradedSteps(run)).toEqual([
    { name: 'search_queries', reason: 'too_long' },
    { name: 'inner/reranking', reason: 'overloaded' },
  ]);
});

it('knows the queries of a run, also those of nested mega services', () => {
  type NodeReceipt = RunReceipt['nodes'][number];
  const node = (searched: object[] | undefined, nested?: RunReceipt) =>
    ({
      node: 'n',
      state: 'ok',
      ...(searched && { details: { searched } }),
      nested,
    }) as unknown as NodeReceipt;
  const run = (...nodes: NodeReceipt[]) => ({ nodes }) as RunReceipt;
  const asked = [{ query: 'a', by: 'user' }];
  const nested = run(node([...asked, { query: 'b', by: 'model' }]));
  expect(searchedQueries(run(node(asked), node(undefined, nested)))).toEqual(['a', 'b']);
  expect(searchedQueries(run(node([])))).toEqual([]);
  expect(searchedQueries(run(node(undefined)))).toBeUndefined();
});
