import { describe, expect, it } from 'vitest';
import { PrioritizedQueue } from './prioritized-queue.js';

const batchTokens = 100;
const item = (value: string, tokens = 10) => ({ tokens, value });
const items = (name: string, count: number, tokens?: number) =>
  Array.from({ length: count }, (_unused, index) => item(`${name}${index}`, tokens));
const open = (capacity = 1_000) => new PrioritizedQueue<string>({ capacity, batchTokens });

describe('PrioritizedQueue', () => {
  it('returns interactive work before all bulk work that came earlier, in a batch of its own', () => {
    const queue = open();
    for (const name of ['a', 'b', 'c']) queue.push({}, items(name, 50), 'bulk');
    queue.push({}, [item('query')], 'interactive');
    expect(queue.next).toBe('interactive');
    expect(queue.take(batchTokens)).toEqual(['query']);
    expect(queue.next).toBe('bulk');
    expect(queue.take(batchTokens)).toHaveLength(10);
  });

  it('gives bulk work a fifth of the tokens while interactive work always waits', () => {
    const queue = open();
    queue.push({}, items('bulk', 1_000), 'bulk');
    const batches: string[] = [];
    for (let count = 0; count < 1_000; count += 1) {
      queue.push({}, [item('query')], 'interactive');
      queue.push({}, [item('query')], 'interactive');
      const batch = queue.take(batchTokens);
      batches.push(...batch);
    }
    const share = batches.filter((value) => value !== 'query').length / batches.length;
    expect(share).toBeGreaterThan(0.18);
    expect(share).toBeLessThanOrEqual(0.2);
  });

  it('does not put a query behind two bulk batches', () => {
    const queue = open();
    queue.push({}, items('bulk', 900), 'bulk');
    let bulkInRow = 0;
    for (let count = 0; count < 400; count += 1) {
      queue.push({}, [item('query', 40)], 'interactive');
      const isBulk = queue.next === 'bulk';
      queue.take(batchTokens);
      bulkInRow = isBulk ? bulkInRow + 1 : 0;
      expect(bulkInRow).toBeLessThan(2);
    }
  });

  it('earns bulk work nothing from the time before it came', () => {
    const queue = open();
    for (let count = 0; count < 1_000; count += 1) {
      queue.push({}, [item('query')], 'interactive');
      queue.take(batchTokens);
    }
    queue.push({}, items('bulk', 5), 'bulk');
    queue.push({}, [item('query')], 'interactive');
    expect(queue.take(batchTokens)).toEqual(['query']);
  });

  it('has room for interactive work when bulk work fills the queue', () => {
    const queue = open(5);
    expect(queue.push({}, items('bulk', 5), 'bulk')).toBe(true);
    expect(queue.push({}, [item('more')], 'bulk')).toBe(false);
    expect(queue.push({}, [item('query')], 'interactive')).toBe(true);
    expect([queue.count('bulk'), queue.count('interactive')]).toEqual([5, 1]);
    expect([queue.waitingTokens('bulk'), queue.waitingTokens('interactive')]).toEqual([50, 10]);
  });

  it('forgets abandoned requests of both priorities', () => {
    const queue = open();
    const [bulk, query] = [{}, {}];
    queue.push(bulk, items('bulk', 5), 'bulk');
    queue.push(query, [item('query')], 'interactive');
    queue.remove(query);
    expect(queue.next).toBe('bulk');
    queue.remove(bulk);
    expect(queue.next).toBeUndefined();
    expect(queue.take(batchTokens)).toEqual([]);
  });
});
