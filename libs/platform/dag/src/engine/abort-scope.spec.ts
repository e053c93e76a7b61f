import { expect, it, vi } from 'vitest';
import { AbortScope } from './abort-scope.js';

const reason = new Error('enough');

it('aborts the signals that were asked for before and after, with its first reason', () => {
  const [early, late] = [new AbortScope(), new AbortScope()];
  const { signal } = early;
  for (const scope of [early, late]) {
    scope.abort(reason);
    scope.abort(new Error('again'));
    expect(scope.signal.aborted).toBe(true);
    expect(scope.signal.reason).toBe(reason);
    expect(scope.reason).toBe(reason);
  }
  expect(early.signal).toBe(signal);
});

it('tells each listener once, and none that left', () => {
  const scope = new AbortScope();
  const [heard, left] = [vi.fn<() => void>(), vi.fn<() => void>()];
  scope.onAbort(heard);
  scope.onAbort(left);
  scope.off(left);
  scope.abort(reason);
  scope.abort(reason);
  expect(heard).toHaveBeenCalledTimes(1);
  expect(left).not.toHaveBeenCalled();
});
