import { describe, expect, it } from 'vitest';
import { columnsOf } from './pipeline';

describe('columnsOf', () => {
  it('puts a node behind the last of those that it waits for', () => {
    const nodes = [
      { node: 'join', after: ['long', 'short'] },
      { node: 'long', after: ['middle'] },
      { node: 'middle', after: ['start'] },
      { node: 'short', after: ['start'] },
      { node: 'start', after: [] },
    ];
    expect(Object.fromEntries(columnsOf(nodes))).toEqual({ start: 0, middle: 1, short: 1, long: 2, join: 3 });
  });
});
