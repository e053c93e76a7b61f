import { describe, expect, it } from 'vitest';
import { ThreadCheck } from './thread-check.js';

const limits = { maxPassMs: 450, patienceMs: 30 };

describe('ThreadCheck', () => {
  it('asks the thread each time, and passes its error on', async () => {
    let asked = 0;
    const healthy = new ThreadCheck(async () => void (asked += 1), limits);
    await healthy.check();
    await healthy.check();
    expect(asked).toBe(2);
    await expect(new ThreadCheck(() => Promise.reject(new Error('closed')), limits).check()).rejects.toThrow(
      'closed',
    );
  });

  it('bears a pass, not a thread that stands still, and recovers with its answer', async () => {
    let answer: () => void = () => undefined;
    const thread = new ThreadCheck(() => new Promise((resolve) => (answer = resolve)), limits);
    await thread.check();
    await expect.poll(() => thread.check().catch(String)).toMatch(/has not answered for \d+ s/);
    answer();
    await thread.check();
  });
});
