import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { Outbox } from './outbox.js';

describe('Outbox', () => {
  it('sends in order and together at the end of a turn', async () => {
    const sent: number[] = [];
    const outbox = new Outbox(() => {});
    outbox.add(() => sent.push(1));
    await Promise.resolve();
    outbox.add(() => sent.push(2));
    expect(sent).toEqual([]);
    await turn();
    expect(sent).toEqual([1, 2]);
    outbox.add(() => sent.push(3));
    outbox.flush();
    expect(sent).toEqual([1, 2, 3]);
    await turn();
    expect(sent).toEqual([1, 2, 3]);
  });

  it('tells of what cannot be sent, and sends the others', () => {
    const failures: unknown[] = [];
    const sent: number[] = [];
    const outbox = new Outbox((error) => failures.push(error));
    outbox.add(() => {
      throw new Error('closed');
    });
    outbox.add(() => sent.push(2));
    outbox.flush();
    expect(failures).toEqual([new Error('closed')]);
    expect(sent).toEqual([2]);
  });
});
