import { describe, expect, it } from 'vitest';
import { chooseCentral } from './centrality.js';

const { signal } = new AbortController();

const unit = (x: number, y: number) => {
  const length = Math.hypot(x, y);
  return Float32Array.of(x / length, y / length);
};
const many = (length: number) =>
  Array.from({ length }, (_unused, index) => unit(Math.cos(index), Math.sin(index)));
const choose = (vectors: Float32Array[], count: number) => chooseCentral(vectors, { count }, signal);

describe('chooseCentral', () => {
  it('takes what is most alike to all, and no repetition of it next', async () => {
    // Three about one thing, the second of them nearly the first; one about another.
    expect((await choose([unit(1, 0), unit(1, 0.001), unit(0.8, 0.6), unit(0, 1)], 1))[0]).not.toBe(3);
    expect(await choose([unit(1, 0), unit(1, 0), unit(0.6, 0.8)], 3)).toEqual([0, 2, 1]);
  });

  it('gives each once', async () => {
    const vectors = many(30);
    const all = await choose(vectors, 100);
    expect(all.toSorted((a, b) => a - b)).toEqual([...vectors.keys()]);
    expect(await choose(vectors, 4)).toEqual(all.slice(0, 4));
    expect(await choose([], 5)).toEqual([]);
  });

  it('chooses only what may follow', async () => {
    const even = (index: number) => index % 2 === 0;
    const chosen = await chooseCentral(many(10), { count: 10, mayFollow: even }, signal);
    expect(chosen.toSorted((a, b) => a - b)).toEqual([0, 2, 4, 6, 8]);
  });

  it('stops with its request', async () => {
    const leaving = new AbortController();
    setTimeout(() => leaving.abort(new Error('left')), 1);
    await expect(chooseCentral(many(20_000), { count: 20_000 }, leaving.signal)).rejects.toThrow('left');
  });
});
