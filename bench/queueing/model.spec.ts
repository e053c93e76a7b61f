import { describe, expect, it } from 'vitest';
import { arrivalsOf, instancesFor, mean, predict, seededRandom, simulate, summarize } from './model.js';

/** Exponential service times, for which queueing theory has formulas. */
const exponential = (meanMs: number) => {
  const random = seededRandom(7);
  return Array.from({ length: 20_000 }, () => -Math.log(1 - random()) * meanMs);
};

describe('the queueing model', () => {
  it('agrees with the formula for one server (M/M/1)', () => {
    const arrivals = arrivalsOf(40_000, 60, seededRandom(3));
    const station = { name: 'a', instances: 1, workers: 1, times: exponential(10) };
    const { p50Ms, p99Ms, perSecond } = predict([station], arrivals, 3);
    // Sojourn times are exponential with the mean 1 / (100 - 60) s.
    expect(p50Ms).toBeGreaterThan(0.85 * 25 * Math.log(2));
    expect(p50Ms).toBeLessThan(1.15 * 25 * Math.log(2));
    expect(p99Ms).toBeGreaterThan(0.8 * 25 * Math.log(100));
    expect(p99Ms).toBeLessThan(1.2 * 25 * Math.log(100));
    expect(perSecond).toBeCloseTo(60, -1);
  });

  it('gives no more than the instances can do', () => {
    const arrivals = arrivalsOf(4_000, 1_000, seededRandom(1));
    const station = { name: 'a', instances: 4, workers: 1, times: [10] };
    expect(predict([station], arrivals, 2).perSecond).toBeCloseTo(400, -1);
  });

  it('waits less at the less busy of two than at a random one', () => {
    const arrivals = arrivalsOf(20_000, 560, seededRandom(2));
    const times = exponential(10);
    const eight = predict([{ name: 'a', instances: 8, workers: 1, times }], arrivals, 2);
    const alone = predict(
      [{ name: 'a', instances: 1, workers: 1, times }],
      arrivalsOf(20_000, 70, seededRandom(2)),
      2,
    );
    expect(eight.p99Ms).toBeLessThan(0.6 * alone.p99Ms);
  });

  it('adds the stations up, and says how many instances are enough', () => {
    const stations = [5, 7].map((ms) => ({ name: `${ms}`, instances: 2, workers: 2, times: [ms] }));
    const ends = simulate(stations, [0, 1_000], seededRandom(1));
    expect(ends).toEqual([12, 1_012]);
    expect(summarize([0, 1_000], ends).p99Ms).toBe(12);
    expect(instancesFor(1_000, { workers: 1, times: [7] })).toBe(10);
    expect(mean([1, 2, 3])).toBe(2);
  });
});
