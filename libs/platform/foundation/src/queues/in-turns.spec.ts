import { expect, it } from 'vitest';
import { gatherInTurns } from './in-turns.js';

function* slowly(count: number): Generator<number> {
  for (let item = 0; item < count; item += 1) {
    const until = performance.now() + 1;
    while (performance.now() < until);
    yield item;
  }
}

it('gives other work of the event loop its turns, and keeps the order', async () => {
  let turns = 0;
  const timer = setInterval(() => (turns += 1), 1);
  const gathered = await gatherInTurns(slowly(100), new AbortController().signal);
  clearInterval(timer);
  expect(gathered).toEqual(Array.from({ length: 100 }, (_unused, item) => item));
  expect(turns).toBeGreaterThan(2);
});

it('ends with its request', async () => {
  const leaving = new AbortController();
  setTimeout(() => leaving.abort(new Error('left')), 5);
  await expect(gatherInTurns(slowly(10_000), leaving.signal)).rejects.toThrow('left');
  await expect(gatherInTurns([], leaving.signal)).rejects.toThrow('left');
});
