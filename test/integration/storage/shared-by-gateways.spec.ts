import {
  CitedPassagesRepository,
  IdempotentAnswersRepository,
  openDatabase,
  RateCountsRepository,
  type Database,
} from '#platform/storage';
import { startPostgres, type TestPostgres } from '#platform/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let postgres: TestPostgres;
let database: Database;

beforeAll(async () => {
  postgres = await startPostgres();
  database = openDatabase({ connectionString: postgres.connectionString });
  await database.migrate();
});
afterAll(async () => {
  await database.close();
  await postgres.stop();
});

describe('counts of rate limits', () => {
  it('count each request once, however many come together, and begin again after the window', async () => {
    const counts = new RateCountsRepository(database);
    const found = await Promise.all(Array.from({ length: 20 }, () => counts.add('alice', 60_000)));
    expect(found.map(({ count }) => count).toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: 20 }, (_unused, index) => index + 1),
    );
    expect(found[0]?.leftMs).toBeGreaterThan(50_000);
    expect((await counts.add('bob', -1)).count).toBe(1);
    expect((await counts.add('bob', 60_000)).count).toBe(1);
    await counts.add('carol', -1);
    expect(await counts.deleteOver()).toBe(1);
  });
});

describe('answers by their key', () => {
  const answer = { contentType: 'application/json', headers: {}, body: '{"a":"\\u0000 ü"}' };
  const claim = { owner: 'alice', key: 'k1', fingerprint: 'f' };

  it('belong to the process that took the key, until it lets go', async () => {
    const answers = new IdempotentAnswersRepository(database);
    const both = await Promise.all([
      answers.claim(claim, 'one', 60_000),
      answers.claim(claim, 'two', 60_000),
    ]);
    expect(both.map(({ state }) => state).toSorted()).toEqual(['busy', 'claimed']);
    const [winner, loser] = both[0].state === 'claimed' ? ['one', 'two'] : ['two', 'one'];
    await answers.release(claim, loser);
    await answers.keep(claim, loser, answer);
    expect(await answers.claim(claim, 'three', 60_000)).toEqual({ state: 'busy', fingerprint: 'f' });
    await answers.keep(claim, winner, answer);
    await answers.release(claim, winner);
    expect(await answers.claim({ ...claim, fingerprint: 'g' }, 'three', 60_000)).toEqual({
      state: 'answered',
      fingerprint: 'f',
      answer,
    });
    expect(await answers.claim({ ...claim, owner: 'bob' }, 'three', 60_000)).toEqual({ state: 'claimed' });
  });

  it('are taken over from a process that has died', async () => {
    const answers = new IdempotentAnswersRepository(database);
    const dead = { ...claim, key: 'k2' };
    await answers.claim(dead, 'dead', -1);
    expect(await answers.claim({ ...dead, fingerprint: 'g' }, 'other', 60_000)).toEqual({ state: 'claimed' });
    await answers.keep(dead, 'dead', answer);
    expect(await answers.claim(dead, 'third', 60_000)).toEqual({ state: 'busy', fingerprint: 'g' });
    await answers.renew({ ...dead, fingerprint: 'g' }, 'other', -1);
    expect(await answers.claim(dead, 'third', 60_000)).toEqual({ state: 'claimed' });
  });

  it('are removed with age, and the oldest ones beyond the bytes of an owner', async () => {
    const answers = new IdempotentAnswersRepository(database);
    for (const key of ['a', 'b', 'c']) {
      const own = { owner: 'dora', key, fingerprint: 'f' };
      await answers.claim(own, 'one', 60_000);
      await answers.keep(own, 'one', { ...answer, body: key.repeat(3) });
    }
    expect(await answers.deleteBeyond(3_600_000, 150)).toBeGreaterThan(0);
    expect(await answers.claim({ owner: 'dora', key: 'c', fingerprint: 'f' }, 'x', 1)).toMatchObject({
      state: 'answered',
    });
    await answers.deleteBeyond(-1_000, 1e9);
    expect(await answers.claim({ owner: 'dora', key: 'c', fingerprint: 'f' }, 'x', 1)).toEqual({
      state: 'claimed',
    });
  });
});

describe('passages that answers cite', () => {
  it('are found by the key of the answer, and replaced', async () => {
    const cited = new CitedPassagesRepository(database);
    await cited.keep('k1', [{ id: 'a' }]);
    await cited.keep('k1', [{ id: 'b', document: 'd' }]);
    await cited.keep('k2', [{ id: 'c' }]);
    expect(await cited.find(['k1', 'k3'])).toEqual(new Map([['k1', [{ id: 'b', document: 'd' }]]]));
  });

  it('are removed by age, and beyond a number', async () => {
    const cited = new CitedPassagesRepository(database);
    await cited.keep('k3', [{ id: 'c' }]);
    expect(await cited.deleteBeyond(60_000, 2)).toBe(1);
    expect([...(await cited.find(['k1', 'k2', 'k3'])).keys()].toSorted()).toEqual(['k2', 'k3']);
    expect(await cited.deleteBeyond(-1_000, 2)).toBe(2);
    expect(await cited.find(['k1', 'k2', 'k3'])).toEqual(new Map());
  });
});
