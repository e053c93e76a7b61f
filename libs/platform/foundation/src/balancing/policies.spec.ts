import { enginePolicySchema, type EnginePolicy } from '#platform/contracts';
import { describe, expect, it } from 'vitest';
import { createPolicy } from './policies.js';

const servers = (...loads: number[]) =>
  loads.map((load, index) => ({ id: 'abcdef'[index]!, load, weight: 1 }));

function shares(name: EnginePolicy, weights: number[], random?: () => number) {
  const policy = createPolicy(name, random);
  const candidates = weights.map((weight, index) => ({ id: 'abc'[index]!, load: 0, weight }));
  return Array.from({ length: 8 }, () => policy.choose(candidates, '').id).join('');
}

/** A random number generator with the same numbers in each run. */
function seeded() {
  let state = 1;
  return () => (state = (state * 16_807) % 2_147_483_647) / 2_147_483_647;
}

describe('createPolicy', () => {
  it.each(enginePolicySchema.options)('%s chooses the only server', (name) => {
    expect(createPolicy(name).choose(servers(99), 'text').id).toBe('a');
  });

  it('round_robin mixes servers by their weights', () => {
    expect(shares('round_robin', [1, 1])).toBe('abababab');
    expect(shares('round_robin', [3, 1])).toBe('aabaaaba');
  });

  it('round_robin goes on after a server is gone and back', () => {
    const policy = createPolicy('round_robin');
    const all = servers(0, 0, 0);
    const ids = [all, all, all.slice(0, 2), all.slice(0, 2), all].map((some) => policy.choose(some, '').id);
    expect(new Set(ids.slice(2, 4))).toEqual(new Set(['a', 'b']));
  });

  it('random follows the weights', () => {
    const policy = createPolicy('random', seeded());
    const candidates = [
      { id: 'a', load: 0, weight: 3 },
      { id: 'b', load: 0, weight: 1 },
    ];
    const chosen = Array.from({ length: 1_000 }, () => policy.choose(candidates, '').id);
    const share = chosen.filter((id) => id === 'a').length / 1_000;
    expect(share).toBeGreaterThan(0.7);
    expect(share).toBeLessThan(0.8);
  });

  it('power_of_two takes the less busy of two, least_load the least busy of all', () => {
    const policy = createPolicy('power_of_two', seeded());
    const all = servers(9, 1, 5);
    const chosen = new Set(Array.from({ length: 50 }, () => policy.choose(all, '').id));
    expect(chosen).toEqual(new Set(['b', 'c']));
    expect(createPolicy('least_load').choose(all, '').id).toBe('b');
  });

  it('least_load counts calls for each unit of weight', () => {
    const big = { id: 'a', load: 4, weight: 4 };
    const small = { id: 'b', load: 1, weight: 1 };
    expect(createPolicy('least_load').choose([small, big], '').id).toBe('a');
  });

  it('cache_aware stays with the server that has read the beginning', () => {
    const policy = createPolicy('cache_aware', () => 0);
    const system = 'You are a careful assistant. '.repeat(40);
    const [a, b] = servers(0, 0);
    expect(policy.choose([a!, b!], system + 'first').id).toBe('a');
    expect(policy.choose([{ ...a!, load: 1 }, b!], 'Another prompt').id).toBe('b');
    // The server with the beginning is busier, but not by much.
    expect(policy.choose([{ ...a!, load: 3 }, b!], system + 'second').id).toBe('a');
    expect(policy.choose([{ ...a!, load: 30 }, b!], system + 'third').id).toBe('b');
  });

  it('bucket gives long prompts a server of their own', () => {
    const policy = createPolicy('bucket');
    const all = servers(0, 0);
    const ask = (length: number) => policy.choose(all, 'x'.repeat(length)).id;
    for (let turn = 0; turn < 100; turn += 1) ask(turn % 10 === 0 ? 900 : 100);
    expect([ask(100), ask(900)]).toEqual(['a', 'b']);
    expect(policy.choose(servers(0, 40), 'x'.repeat(900)).id).toBe('a');
  });
});
