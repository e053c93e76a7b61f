import { expect, test } from 'vitest';
import { AsyncQueue, eventsOf } from './async-queue.js';

async function readAll<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const read: Item[] = [];
  for await (const item of items) read.push(item);
  return read;
}

test('delivers in order what was pushed before and while the reader waits, then ends', async () => {
  const queue = new AsyncQueue<number>();
  queue.push(1);
  const read = readAll(queue);
  queue.push(2);
  await Promise.resolve();
  queue.push(3);
  queue.end();
  expect(await read).toEqual([1, 2, 3]);
});

test('throws the error after the items that came before it; the first end counts', async () => {
  const queue = new AsyncQueue<number>();
  queue.push(1);
  queue.end(new Error('broken'));
  queue.end();
  const seen: number[] = [];
  const read = async () => {
    for await (const item of queue) seen.push(item);
  };
  await expect(read()).rejects.toThrow('broken');
  expect(seen).toEqual([1]);
});

test('yields the events of work and fails with it', async () => {
  const events = eventsOf<string>(async (onEvent) => {
    onEvent('a');
    await Promise.resolve();
    onEvent('b');
    throw new Error('no more');
  });
  expect(await events.next()).toEqual({ value: 'a', done: false });
  expect(await events.next()).toEqual({ value: 'b', done: false });
  await expect(events.next()).rejects.toThrow('no more');
});

test('aborts the work when the reader leaves, and when the caller aborts', async () => {
  const signals: AbortSignal[] = [];
  const work = (onEvent: (event: string) => void, signal: AbortSignal) => {
    signals.push(signal);
    onEvent('a');
    return new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
  };
  const events = eventsOf(work);
  await events.next();
  await events.return();
  expect(signals[0]!.aborted).toBe(true);
  const caller = new AbortController();
  const others = eventsOf(work, caller.signal);
  await others.next();
  caller.abort();
  expect(await others.next()).toEqual({ value: undefined, done: true });
  expect(signals[1]!.aborted).toBe(true);
});

test('tells once, with the error, that the iteration has ended', async () => {
  const ends: unknown[] = [];
  const queue = new AsyncQueue<number>();
  const read = queue.read(() => (failure) => ends.push(failure));
  const broken = new Error('broken');
  queue.end(broken);
  await expect(read.next()).rejects.toBe(broken);
  const other = new AsyncQueue<number>();
  other.push(1);
  const left = other.read(() => (failure) => ends.push(failure));
  await left.next();
  await left.return();
  expect(ends).toEqual([broken, undefined]);
});

test('begins with the iteration; an error of the beginning ends it', async () => {
  const broken = new Error('broken');
  const read = new AsyncQueue<number>().read(() => Promise.reject(broken));
  await expect(read.next()).rejects.toBe(broken);
  expect(await read.next()).toEqual({ value: undefined, done: true });
});
