import { expect, it } from 'vitest';
import { CircuitBreaker } from './circuit-breaker.js';

function breakerAt() {
  const clock = { now: 0 };
  return { clock, breaker: new CircuitBreaker({ now: () => clock.now, pauseMs: 100, maxPauseMs: 300 }) };
}

it('opens after three failures in a row, and lets one call try it after a pause', () => {
  const { clock, breaker } = breakerAt();
  breaker.fail();
  breaker.fail();
  breaker.succeed();
  breaker.fail();
  breaker.fail();
  expect(breaker.state).toBe('closed');
  breaker.fail();
  expect([breaker.state, breaker.passes, breaker.openings]).toEqual(['open', false, 1]);
  clock.now = 100;
  expect([breaker.state, breaker.passes]).toEqual(['half-open', true]);
  breaker.begin();
  expect(breaker.passes).toBe(false);
  breaker.succeed();
  expect([breaker.state, breaker.passes]).toEqual(['closed', true]);
});

it('waits twice as long after each failed trial, up to its maximum', () => {
  const { clock, breaker } = breakerAt();
  for (let count = 0; count < 3; count += 1) breaker.fail();
  for (const pause of [100, 200, 300, 300]) {
    clock.now += pause - 1;
    expect(breaker.state).toBe('open');
    clock.now += 1;
    expect(breaker.passes).toBe(true);
    breaker.begin();
    breaker.fail();
  }
});

it('opens if half of the last calls failed', () => {
  const { breaker } = breakerAt();
  for (let count = 0; count < 20 && breaker.state === 'closed'; count += 1)
    if (count % 2) breaker.fail();
    else breaker.succeed();
  expect(breaker.state).toBe('open');
});

it('stays half-open after a trial without a verdict', () => {
  const { clock, breaker } = breakerAt();
  breaker.open();
  clock.now = 100;
  breaker.begin();
  breaker.leave();
  expect([breaker.state, breaker.passes]).toEqual(['half-open', true]);
});

it('lets another call try it if a trial takes long', () => {
  const { clock, breaker } = breakerAt();
  breaker.open();
  clock.now = 100;
  breaker.begin();
  expect(breaker.passes).toBe(false);
  clock.now = 200;
  expect(breaker.passes).toBe(true);
});
