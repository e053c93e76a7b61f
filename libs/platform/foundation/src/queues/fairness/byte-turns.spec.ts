import { describe, expect, it } from 'vitest';
import { ByteTurns } from './byte-turns.js';

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('ByteTurns', () => {
  it('lets so many bytes through in each turn of the event loop, and one piece at least', async () => {
    const turns = new ByteTurns(100);
    const passed: number[] = [];
    for (const bytes of [60, 60, 500, 10]) void turns.take(bytes, 'bob').then(() => passed.push(bytes));
    await turn();
    expect(passed).toEqual([60, 60]);
    await turn();
    expect(passed).toEqual([60, 60, 500]);
    await turn();
    expect(passed).toEqual([60, 60, 500, 10]);
  });

  it('lets the client pass that has sent the least', async () => {
    const turns = new ByteTurns(1);
    const passed: string[] = [];
    for (let piece = 0; piece < 4; piece += 1) void turns.take(10, 'bob').then(() => passed.push('bob'));
    await turn();
    for (let piece = 0; piece < 2; piece += 1) void turns.take(5, 'alice').then(() => passed.push('alice'));
    for (let count = 0; count < 5; count += 1) await turn();
    expect(passed).toEqual(['bob', 'alice', 'alice', 'bob', 'bob', 'bob']);
  });

  it('paces a stream, and passes its error on', async () => {
    async function* pieces() {
      yield new Uint8Array(3);
      yield new Uint8Array(4);
      throw new Error('cut off');
    }
    const lengths: number[] = [];
    const read = async () => {
      for await (const { length } of new ByteTurns(1).pace(pieces())) lengths.push(length);
    };
    await expect(read()).rejects.toThrow('cut off');
    expect(lengths).toEqual([3, 4]);
  });
});
