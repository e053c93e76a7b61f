import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, it } from 'vitest';
import { EventLog } from './event-log.js';

const message = (id: number): JSONRPCMessage => ({ jsonrpc: '2.0', id, result: {} });

async function missedAfter(log: EventLog, id: string): Promise<[string, JSONRPCMessage][]> {
  const missed: [string, JSONRPCMessage][] = [];
  await log.replayEventsAfter(id, { send: async (event, text) => void missed.push([event, text]) });
  return missed;
}

describe('EventLog', () => {
  it('replays the later events of the same stream', async () => {
    const log = new EventLog();
    const first = await log.storeEvent('a', message(1));
    await log.storeEvent('b', message(2));
    const third = await log.storeEvent('a', message(3));
    expect(await log.getStreamIdForEventId(first)).toBe('a');
    expect(await missedAfter(log, first)).toEqual([[third, message(3)]]);
  });

  it('forgets the oldest events beyond its limits', async () => {
    const log = new EventLog({ events: 2, characters: 10_000 });
    const ids = [];
    for (const id of [1, 2, 3]) ids.push(await log.storeEvent('a', message(id)));
    expect(await log.getStreamIdForEventId(ids[0] ?? '')).toBeUndefined();
    await expect(missedAfter(log, ids[0] ?? '')).rejects.toThrow('not known any more');
    expect(await missedAfter(log, ids[1] ?? '')).toHaveLength(1);
  });
});
