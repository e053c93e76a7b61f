import rateLimit from '@fastify/rate-limit';
import fastify from 'fastify';
import { beforeEach, describe, expect, it } from 'vitest';
import { SharedRateLimit } from './shared-rate-limit.js';

describe('a rate limit that gateways share', () => {
  let now: number;
  let counts: Map<string, number>;
  let asked: number;
  let isAway: boolean;
  const open = () =>
    new SharedRateLimit(
      (key) => {
        asked += 1;
        if (isAway) return Promise.reject(new Error('away'));
        counts.set(key, (counts.get(key) ?? 0) + 1);
        return Promise.resolve({ count: counts.get(key)!, leftMs: 60_000 });
      },
      () => now,
    );
  const current = async (limit: SharedRateLimit) => (await limit.count('me', 60_000, 3)).current;

  beforeEach(() => {
    now = 1_000_000;
    counts = new Map();
    asked = 0;
    isAway = false;
  });

  it('counts what came over another gateway', async () => {
    const [one, other] = [open(), open()];
    expect([await current(one), await current(other), await current(one)]).toEqual([1, 2, 3]);
  });

  it('asks no database about a client that is beyond its limit, until the window ends', async () => {
    const limit = open();
    for (let request = 0; request < 10; request += 1) await current(limit);
    expect(asked).toBe(4);
    now += 60_001;
    counts.clear();
    expect(await current(limit)).toBe(1);
  });

  it('counts alone while the database is away, and asks it again later', async () => {
    const limit = open();
    await current(limit);
    isAway = true;
    expect([await current(limit), await current(limit)]).toEqual([2, 3]);
    expect(asked).toBe(2);
    isAway = false;
    now += 5_001;
    expect(await current(limit)).toBe(2);
    expect(asked).toBe(3);
  });
});

it('is a store of the rate limit plugin', async () => {
  const counts = new Map<string, number>();
  const limit = new SharedRateLimit((key) => {
    counts.set(key, (counts.get(key) ?? 0) + 1);
    return Promise.resolve({ count: counts.get(key)!, leftMs: 60_000 });
  });
  const server = fastify();
  await server.register(rateLimit, { store: limit.store, max: 2, timeWindow: '1 minute' });
  server.get('/', () => 'ok');
  const statuses = [];
  for (let request = 0; request < 3; request += 1) statuses.push((await server.inject('/')).statusCode);
  expect(statuses).toEqual([200, 200, 429]);
  const [key = ''] = counts.keys();
  expect(counts.get(key)).toBe(3);
  const refused = await server.inject('/');
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(50);
  // Beyond the limit, the gateway does not query the database.
  expect(counts.get(key)).toBe(3);
  await server.close();
});

it('counts what the plugin checks outside of routes', async () => {
  const limit = new SharedRateLimit(() => Promise.resolve({ count: 3, leftMs: 30_000 }));
  const server = fastify();
  await server.register(rateLimit, { global: false, store: limit.store, max: 2, timeWindow: '1 minute' });
  const check = server.createRateLimit();
  server.get('/', async (request) => check(request));
  const answer = (await server.inject('/')).json<{ isExceeded: boolean; ttlInSeconds: number }>();
  expect(answer).toMatchObject({ isExceeded: true, ttlInSeconds: 30 });
  await server.close();
});
