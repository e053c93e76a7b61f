import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { MegaNestError, type ErrorCode } from '#platform/contracts';
import { after, define, hang, readAll, runWith } from '../dag.fixture.js';
import type { NodeContext } from './types.js';

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  if (vi.getTimerCount() > 0) throw new Error('a timer was left behind');
  vi.useRealTimers();
});

const refuse = (code: ErrorCode) =>
  Promise.reject(new MegaNestError(code, { service: 'step', detail: 'so it is' }));

describe('hedging', () => {
  const hedged = define('a: { service: step, hedgeAfterMs: 100 }');
  const slowThenFast = (context: NodeContext) =>
    context.attempt === 1 ? after(1000, 'first')(context) : after(50, 'second')(context);

  it('starts a second attempt beside a slow one and aborts the loser', async () => {
    const run = runWith(hedged, { a: slowThenFast });
    await vi.advanceTimersByTimeAsync(150);
    expect(await run.result).toBe('second');
    expect(run.calls.map(({ signal }) => signal.aborted)).toEqual([true, false]);
    expect((await run.settled).nodes[0]).toMatchObject({ attempts: 2, from: 'hedge', runMs: 150 });
  });

  it('takes the first attempt when that is faster after all', async () => {
    const run = runWith(hedged, { a: (context) => after(120, context.attempt)(context) });
    await vi.advanceTimersByTimeAsync(120);
    expect(await run.result).toBe(1);
    expect(run.calls.map(({ signal }) => signal.aborted)).toEqual([false, true]);
    expect((await run.settled).nodes[0]).not.toHaveProperty('from');
  });

  it('does not start a second attempt beside a fast one', async () => {
    const run = runWith(hedged, { a: after(99, 'first') });
    await vi.advanceTimersByTimeAsync(99);
    expect(await run.result).toBe('first');
    expect(run.calls).toHaveLength(1);
  });

  it('waits for the other attempt when one fails', async () => {
    const run = runWith(hedged, {
      a: (context) =>
        context.attempt === 1
          ? after(110, null)(context).then(() => refuse('bad_upstream'))
          : after(50, 'second')(context),
    });
    await vi.advanceTimersByTimeAsync(150);
    expect(await run.result).toBe('second');
  });

  it('fails when both fail, and at once when the error is one that both would meet', async () => {
    const both = runWith(hedged, {
      a: (context) => after(110, null)(context).then(() => refuse('bad_upstream')),
    });
    await vi.advanceTimersByTimeAsync(210);
    await expect(both.result).rejects.toMatchObject({ code: 'bad_upstream' });
    const once = runWith(hedged, {
      a: (context) =>
        context.attempt === 1
          ? after(110, null)(context).then(() => refuse('invalid_request'))
          : hang(context),
    });
    await vi.advanceTimersByTimeAsync(110);
    await expect(once.result).rejects.toMatchObject({ code: 'invalid_request' });
    expect(once.calls[1]?.signal.aborted).toBe(true);
  });

  it('aborts both when the run is cancelled', async () => {
    const run = runWith(hedged, { a: hang });
    await vi.advanceTimersByTimeAsync(100);
    run.cancel();
    await expect(run.result).rejects.toMatchObject({ code: 'cancelled' });
    expect(run.calls.map(({ signal }) => signal.aborted)).toEqual([true, true]);
  });

  it('streams from the attempt with the first first chunk and closes the other stream', async () => {
    const closed: number[] = [];
    async function* speak(context: NodeContext) {
      try {
        await after(context.attempt === 1 ? 500 : 50, null)(context);
        yield { text: `attempt ${context.attempt}` };
      } finally {
        closed.push(context.attempt);
      }
    }
    const run = runWith(define('llm: { service: llm, stream: true, hedgeAfterMs: 100 }'), { llm: speak });
    const reading = readAll(run.stream);
    await vi.advanceTimersByTimeAsync(150);
    expect(await reading).toEqual([{ text: 'attempt 2' }]);
    expect(new Set(closed)).toEqual(new Set([1, 2]));
  });
});
