import type { IngestProgress } from '#platform/contracts';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { thinProgress } from './thin-progress.js';

afterEach(() => {
  vi.useRealTimers();
});

describe('thinProgress', () => {
  it('passes on an event a second, and the last one', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    async function* events(): AsyncGenerator<IngestProgress> {
      for (let completed = 0; completed < 25; completed += 1) {
        await Promise.resolve();
        vi.advanceTimersByTime(100);
        yield { stage: 'embedding', filename: 'a.txt', completed, total: 25 };
      }
      yield { stage: 'done', filename: 'a.txt', completed: 1, total: 1, documents: [] };
    }
    const passed: [string, number][] = [];
    for await (const { stage, completed } of thinProgress(events(), 1_000)) passed.push([stage, completed]);
    expect(passed).toEqual([
      ['embedding', 9],
      ['embedding', 19],
      ['done', 1],
    ]);
  });

  it('stops the work when its reader leaves', async () => {
    let isStopped = false;
    async function* events(): AsyncGenerator<IngestProgress> {
      try {
        for (;;) yield await Promise.resolve({ stage: 'reading', filename: 'a.txt', completed: 0, total: 1 });
      } finally {
        isStopped = true;
      }
    }
    const thinned = thinProgress(events(), 0);
    await thinned.next();
    await thinned.return();
    expect(isStopped).toBe(true);
  });
});
