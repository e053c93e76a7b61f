import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { afterProcessorTime } from './timed-worker.js';

describe('afterProcessorTime', () => {
  let usedMs = 0;
  const callback = vi.fn<() => void>();
  const watch = () => afterProcessorTime(1000, callback, () => usedMs);
  beforeEach(() => {
    vi.useFakeTimers();
    callback.mockReset();
    usedMs = 500;
  });
  afterEach(() => vi.useRealTimers());

  it('calls back after the limit where the process computes all the time', () => {
    watch();
    usedMs += 1000;
    vi.advanceTimersByTime(999);
    expect(callback).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(callback).toHaveBeenCalledOnce();
  });

  it('waits longer where the process gets little processor time', () => {
    watch();
    usedMs += 100;
    vi.advanceTimersByTime(1000);
    usedMs += 800;
    vi.advanceTimersByTime(900);
    expect(callback).not.toHaveBeenCalled();
    usedMs += 100;
    vi.advanceTimersByTime(100);
    expect(callback).toHaveBeenCalledOnce();
  });

  it('does not wait longer than twelve times the limit', () => {
    watch();
    vi.advanceTimersByTime(11_999);
    expect(callback).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(callback).toHaveBeenCalledOnce();
  });

  it('ends', () => {
    const stop = watch();
    stop();
    vi.advanceTimersByTime(20_000);
    expect(callback).not.toHaveBeenCalled();
  });
});
