import { afterEach, expect, it, vi } from 'vitest';
import { Patience } from './patience.js';

afterEach(() => {
  vi.useRealTimers();
});

it('ends after so long without a piece, and at its limit', () => {
  vi.useFakeTimers({ now: 0 });
  const patience = new Patience(100, 250);
  const ended = vi.fn<() => void>();
  patience.watch(ended);
  vi.advanceTimersByTime(90);
  patience.renew();
  vi.advanceTimersByTime(90);
  patience.renew();
  expect(patience.at).toBe(250);
  expect(ended).not.toHaveBeenCalled();
  vi.advanceTimersByTime(65);
  patience.renew();
  vi.advanceTimersByTime(10);
  expect(ended).toHaveBeenCalledOnce();
});

it('ends no more once it is no longer watched', () => {
  vi.useFakeTimers({ now: 0 });
  const ended = vi.fn<() => void>();
  new Patience(100, 1_000).watch(ended)();
  vi.advanceTimersByTime(500);
  expect(ended).not.toHaveBeenCalled();
});
