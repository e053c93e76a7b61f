import type { RunReceipt } from '#dag';
import { describe, expect, it } from 'vitest';
import { ReceiptStore } from './receipt-store.js';

const receipt = (megaService: string): RunReceipt => ({
  megaService,
  state: 'ok',
  startedAt: 0,
  runMs: 1,
  nodes: [],
});

describe('ReceiptStore', () => {
  it('finds a receipt by its request', () => {
    const store = new ReceiptStore({ maxCount: 10, maxAgeMs: 1000 }, () => 0);
    store.add('a', 'chatqna', () => receipt('chatqna'));
    expect(store.find('a')?.receipt.megaService).toBe('chatqna');
    expect(store.find('b')).toBeUndefined();
  });

  it('keeps the newest ones only', () => {
    const store = new ReceiptStore({ maxCount: 2, maxAgeMs: 1000 }, () => 0);
    for (const id of ['a', 'b', 'c']) store.add(id, 'chatqna', () => receipt('chatqna'));
    expect(store.find('a')).toBeUndefined();
    expect(store.recent('chatqna', 5).map(({ requestId }) => requestId)).toEqual(['c', 'b']);
  });

  it('forgets them with age', () => {
    let now = 0;
    const store = new ReceiptStore({ maxCount: 10, maxAgeMs: 1000 }, () => now);
    store.add('a', 'chatqna', () => receipt('chatqna'));
    now = 1001;
    expect(store.find('a')).toBeUndefined();
  });

  it('lists those of one mega service', () => {
    const store = new ReceiptStore({ maxCount: 10, maxAgeMs: 1000 }, () => 0);
    store.add('a', 'chatqna', () => receipt('chatqna'));
    store.add('b', 'other', () => receipt('other'));
    expect(store.recent('other', 5).map(({ requestId }) => requestId)).toEqual(['b']);
  });
});
