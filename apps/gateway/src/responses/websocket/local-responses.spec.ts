import type { StoredItem } from '#api/responses';
import { describe, expect, it } from 'vitest';
import { LocalResponses } from './local-responses.js';

const item = (id: string, text = ''): StoredItem => ({ type: 'message', id, text });
const ids = (items: readonly StoredItem[] | undefined) => items?.map(({ id }) => id);

describe('LocalResponses', () => {
  it('gives the whole context of a response, and its items', () => {
    const kept = new LocalResponses({ maxCount: 4, maxSize: 10_000 });
    kept.add('a', [item('1'), item('2')]);
    kept.add('b', [...(kept.context('a') ?? []), item('3')]);
    expect(ids(kept.context('b'))).toEqual(['1', '2', '3']);
    expect(ids(kept.context('a'))).toEqual(['1', '2']);
    expect(kept.item('3')?.id).toBe('3');
    expect(kept.item('4')).toBeUndefined();
    expect(kept.context('c')).toBeUndefined();
  });

  it('forgets what was not continued for the longest time', () => {
    const kept = new LocalResponses({ maxCount: 2, maxSize: 10_000 });
    kept.add('a', [item('1')]);
    kept.add('b', [item('2')]);
    kept.context('a');
    kept.add('c', [item('3')]);
    expect(['a', 'b', 'c'].filter((id) => kept.context(id))).toEqual(['a', 'c']);
  });

  it('holds to a size, and keeps nothing that exceeds it alone', () => {
    const kept = new LocalResponses({ maxCount: 10, maxSize: 200 });
    kept.add('a', [item('1', 'x'.repeat(100))]);
    kept.add('b', [item('2', 'x'.repeat(100))]);
    expect(['a', 'b'].filter((id) => kept.context(id))).toEqual(['b']);
    kept.add('c', [item('3', 'x'.repeat(1_000))]);
    expect(['b', 'c'].filter((id) => kept.context(id))).toEqual([]);
    kept.add('d', [item('4')]);
    expect(ids(kept.context('d'))).toEqual(['4']);
  });

  it('forgets on request', () => {
    const kept = new LocalResponses({ maxCount: 2, maxSize: 100 });
    kept.add('a', [item('1')]);
    kept.forget('a');
    kept.forget('a');
    expect(kept.context('a')).toBeUndefined();
    expect(kept.item('1')).toBeUndefined();
  });
});
