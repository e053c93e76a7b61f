import { describe, expect, it } from 'vitest';
import { MissPause } from './miss-pause.js';

describe('MissPause', () => {
  const clock = { ms: 0 };
  const paused = (misses: number) => {
    const pause = new MissPause(() => clock.ms);
    for (let count = 0; count < misses; count += 1) pause.miss('m');
    return pause;
  };

  it('pauses a model after three misses in a row', () => {
    expect(paused(2).admits('m')).toBe(true);
    expect(paused(3).admits('m')).toBe(false);
    expect(paused(3).admits('other')).toBe(true);
  });

  it('counts from the beginning after an answer', () => {
    const pause = paused(2);
    pause.hit('m');
    pause.miss('m');
    expect(pause.admits('m')).toBe(true);
  });

  it('lets one call through after a minute, and pauses again unless it is answered', () => {
    const pause = paused(3);
    clock.ms += 60_000;
    expect([pause.admits('m'), pause.admits('m')]).toEqual([true, false]);
    pause.miss('m');
    clock.ms += 59_000;
    expect(pause.admits('m')).toBe(false);
    clock.ms += 1_000;
    expect(pause.admits('m')).toBe(true);
    pause.hit('m');
    expect([pause.admits('m'), pause.admits('m')]).toEqual([true, true]);
  });
});
