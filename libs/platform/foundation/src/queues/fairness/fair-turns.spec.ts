import { describe, expect, it } from 'vitest';
import { asClient, currentClient } from './client-context.js';
import { ClientShares } from './client-shares.js';
import { busiestClients } from './client-work.js';
import { FairTurns } from './fair-turns.js';

const limits = { service: 'dataprep', what: 'documents', slots: 2, slotsOfOne: 1, waitingOfOne: 3 };

const settled = () => new Promise((resolve) => setImmediate(resolve));

/** Tasks that end when they are released, and the order in which they began. */
class Tasks {
  readonly began: string[] = [];
  readonly #ends = new Map<string, () => void>();

  task(name: string): () => Promise<string> {
    return async () => {
      this.began.push(name);
      await new Promise<void>((resolve) => this.#ends.set(name, resolve));
      return name;
    };
  }

  async end(name: string): Promise<void> {
    this.#ends.get(name)?.();
    await settled();
  }
}

describe('ClientShares', () => {
  it('prefers the client that has got the least work', () => {
    const shares = new ClientShares();
    shares.charge('bob', 100);
    expect(shares.next(['bob', 'alice'])).toBe('alice');
    shares.charge('alice', 150);
    expect(shares.next(['bob', 'alice'])).toBe('bob');
    expect(shares.next([])).toBeUndefined();
  });

  it('gives a client nothing for the time when it was away', () => {
    const shares = new ClientShares();
    for (let turn = 0; turn < 1_000; turn += 1) {
      shares.next(['bob']);
      shares.charge('bob', 1);
    }
    let ofAlice = 0;
    for (let turn = 0; turn < 100; turn += 1) {
      const next = shares.next(['bob', 'alice'])!;
      shares.charge(next, 1);
      if (next === 'alice') ofAlice += 1;
    }
    expect(ofAlice).toBeGreaterThanOrEqual(49);
    expect(ofAlice).toBeLessThanOrEqual(51);
  });
});

describe('FairTurns', () => {
  it('keeps a slot free for other clients', async () => {
    const [turns, tasks] = [new FairTurns(limits), new Tasks()];
    const ofBob = ['b1', 'b2', 'b3'].map((name) => turns.run(tasks.task(name), { client: 'bob' }));
    const ofAlice = turns.run(tasks.task('a1'), { client: 'alice' });
    await settled();
    expect(tasks.began).toEqual(['b1', 'a1']);
    expect(turns.waiting).toBe(2);
    await tasks.end('a1');
    expect(await ofAlice).toBe('a1');
    expect(tasks.began).toEqual(['b1', 'a1']);
    for (const name of ['b1', 'b2', 'b3']) await tasks.end(name);
    expect(await Promise.all(ofBob)).toEqual(['b1', 'b2', 'b3']);
  });

  it('lets clients take turns, also a client with fewer tasks', async () => {
    const [turns, tasks] = [new FairTurns({ ...limits, slots: 1 }), new Tasks()];
    for (const name of ['b1', 'b2', 'b3']) void turns.run(tasks.task(name), { client: 'bob' });
    void turns.run(tasks.task('a1'), { client: 'alice' });
    await settled();
    await tasks.end('b1');
    expect(tasks.began).toEqual(['b1', 'a1']);
    await tasks.end('a1');
    expect(tasks.began).toEqual(['b1', 'a1', 'b2']);
  });

  it('refuses only the client with too many waiting tasks, and says the limit', async () => {
    const [turns, tasks] = [new FairTurns(limits), new Tasks()];
    for (let count = 0; count < 4; count += 1) void turns.run(tasks.task(`b${count}`), { client: 'bob' });
    await expect(turns.run(tasks.task('b4'), { client: 'bob' })).rejects.toMatchObject({
      status: 429,
      retryAfter: 5,
      message: expect.stringContaining('3 documents of this client waiting, and the limit is 3'),
    });
    void turns.run(tasks.task('a'), { client: 'alice' });
    await settled();
    expect(tasks.began).toEqual(['b0', 'a']);
  });

  it('forgets tasks whose client left, and goes on after a failure', async () => {
    const [turns, tasks] = [new FairTurns({ ...limits, slots: 1 }), new Tasks()];
    const failing = turns.run(() => Promise.reject(new Error('broken')), { client: 'bob' });
    await expect(failing).rejects.toThrow('broken');
    void turns.run(tasks.task('b1'), { client: 'bob' });
    const leaving = new AbortController();
    const left = turns.run(tasks.task('b2'), { client: 'bob', signal: leaving.signal });
    await settled();
    leaving.abort();
    await expect(left).rejects.toMatchObject({ code: 'cancelled' });
    expect(turns.waiting).toBe(0);
    await tasks.end('b1');
    expect(tasks.began).toEqual(['b1']);
  });

  it('takes the client of the request, also after awaits, and counts its time under a hashed name', async () => {
    const turns = new FairTurns(limits);
    const client = await asClient('carol', async () => {
      await settled();
      return turns.run(async () => currentClient());
    });
    expect(client).toBe('carol');
    expect(currentClient()).toBe('internal');
    expect(Object.keys(busiestClients('seconds')).every((name) => /^[0-9a-f]{12}$/.test(name))).toBe(true);
    expect(JSON.stringify(busiestClients('seconds'))).not.toContain('carol');
  });
});
