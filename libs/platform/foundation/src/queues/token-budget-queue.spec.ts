import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TokenBudgetQueue } from './token-budget-queue.js';

const item = (tokens: number, value = `${tokens}`) => ({ tokens, value });

describe('TokenBudgetQueue', () => {
  it('fills a batch with the items closest in size, of any request', () => {
    const queue = new TokenBudgetQueue<string>(100);
    queue.push({}, [item(10), item(90)]);
    queue.push({}, [item(12), item(80)]);
    expect(queue.take(25)).toEqual(['10', '12']);
    expect(queue.waitingTokens).toBe(170);
  });

  it('lets requests take turns', () => {
    const queue = new TokenBudgetQueue<string>(100);
    queue.push({}, [item(10, 'a1'), item(10, 'a2'), item(10, 'a3')]);
    queue.push({}, [item(10, 'b1')]);
    expect([queue.take(10), queue.take(10), queue.take(10)]).toEqual([['a1'], ['b1'], ['a2']]);
  });

  it('lets clients take turns, whatever the number of their requests', () => {
    const queue = new TokenBudgetQueue<string>(100);
    for (const name of ['b1', 'b2', 'b3']) queue.push({}, [item(10, name), item(10, name)], 'bob');
    queue.push({}, [item(10, 'a1')], 'alice');
    queue.push({}, [item(10, 'a2')], 'alice');
    expect([queue.take(10), queue.take(10), queue.take(10), queue.take(10)].flat()).toEqual([
      'b1',
      'a1',
      'b2',
      'a2',
    ]);
  });

  it('has room for a client when another one has filled its part', () => {
    const queue = new TokenBudgetQueue<string>(2);
    expect(queue.push({}, [item(1), item(1)], 'bob')).toBe(true);
    expect(queue.push({}, [item(1)], 'bob')).toBe(false);
    expect(queue.push({}, [item(1)], 'alice')).toBe(true);
  });

  it('forgets abandoned requests', () => {
    const queue = new TokenBudgetQueue<string>(100);
    const abandoned = {};
    queue.push(abandoned, [item(10), item(10)]);
    queue.push({}, [item(7)]);
    queue.remove(abandoned);
    expect(queue.length).toBe(1);
    expect(queue.take(1000)).toEqual(['7']);
  });

  it('refuses what does not fit, but takes one large request alone', () => {
    const queue = new TokenBudgetQueue<string>(2);
    expect(queue.push({}, [item(1), item(1), item(1)])).toBe(true);
    expect(queue.push({}, [item(1)])).toBe(false);
    expect(queue.length).toBe(3);
  });

  it('hands out every item exactly once', () => {
    const sizes = fc.array(fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 1 }), { minLength: 1 });
    fc.assert(
      fc.property(sizes, fc.integer({ min: 1, max: 500 }), (requests, budget) => {
        const queue = new TokenBudgetQueue<string>(100_000);
        const all: string[] = [];
        requests.forEach((tokens, request) => {
          const items = tokens.map((size, index) => item(size, `${request}.${index}`));
          all.push(...items.map(({ value }) => value));
          queue.push({}, items);
        });
        const taken: string[] = [];
        while (queue.length > 0) taken.push(...queue.take(budget));
        expect(taken.sort()).toEqual(all.sort());
        expect(queue.waitingTokens).toBe(0);
      }),
    );
  });
});
