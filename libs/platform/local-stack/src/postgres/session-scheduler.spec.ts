import { expect, it, vi } from 'vitest';
import { SessionScheduler, type SessionSchedulerOptions } from './session-scheduler.js';

const query = (text: string) => Uint8Array.from(Buffer.from(`Q\0\0\0\0${text}\0`));
const readyForQuery = Uint8Array.of(0x5a, 0, 0, 0, 5, 0x49);

/** A database that notes what it is sent; `begin` opens and `end` closes a transaction. */
function createFakeDatabase() {
  const log: string[] = [];
  let inTransaction = false;
  const database: SessionSchedulerOptions['database'] = {
    runExclusive: (task) => task(),
    isInTransaction: () => inTransaction,
    exec: (text) => {
      log.push(text);
      inTransaction = false;
      return Promise.resolve([]);
    },
    query: (text) => {
      log.push(text);
      return Promise.resolve({ rows: [], fields: [] });
    },
    execProtocolRawStream: async (message, options) => {
      const text = Buffer.from(message).toString('latin1');
      if (text.includes('broken')) throw new Error('unreachable');
      log.push(text.slice(5, -1));
      if (text.includes('begin')) inTransaction = true;
      if (text.includes('end')) inTransaction = false;
      await Promise.resolve();
      options?.onRawData(readyForQuery);
    },
  };
  return { database, log };
}

function createScheduler(options: Partial<SessionSchedulerOptions> = {}) {
  const { database, log } = createFakeDatabase();
  const scheduler = new SessionScheduler({
    database,
    idleInTransactionMs: 60_000,
    evict: () => undefined,
    disconnect: () => undefined,
    onFatal: () => undefined,
    ...options,
  });
  const send = (client: number, text: string) => scheduler.enqueue(client, query(text), () => undefined);
  return { scheduler, log, send };
}

it('lets a transaction end before another client has its turn', async () => {
  const { send, log } = createScheduler();
  await send(1, 'begin');
  const others = [send(2, 'other'), send(3, 'third')];
  await send(1, 'middle');
  await send(1, 'end');
  await Promise.all(others);
  expect(log).toEqual(['begin', 'middle', 'end', 'other', 'third']);
});

it('tidies up after a client that leaves in a transaction, then goes on', async () => {
  const { scheduler, send, log } = createScheduler();
  await send(1, 'begin');
  const other = send(2, 'other');
  scheduler.clearQueueForHandler(1);
  await scheduler.clearTransactionIfNeeded(1);
  await other;
  expect(log).toContain('ROLLBACK');
  expect(log.at(-1)).toBe('other');
});

it('forgets what a client that left had waiting', async () => {
  const { scheduler, send, log } = createScheduler();
  await send(1, 'begin');
  const waiting = send(2, 'never');
  scheduler.clearQueueForHandler(2);
  await expect(waiting).rejects.toThrow('The client left');
  await send(1, 'end');
  expect(log).toEqual(['begin', 'end']);
  expect(scheduler.getQueueLength()).toBe(0);
});

it('disconnects a client that idles in a transaction while others wait', async () => {
  vi.useFakeTimers();
  const evicted: number[] = [];
  const { send } = createScheduler({ idleInTransactionMs: 100, evict: (client) => evicted.push(client) });
  await send(1, 'begin');
  await vi.advanceTimersByTimeAsync(1_000);
  expect(evicted).toEqual([]);
  void send(2, 'other');
  await vi.advanceTimersByTimeAsync(200);
  expect(evicted[0]).toBe(1);
  vi.useRealTimers();
});

it('lets a client go that says goodbye', async () => {
  const gone: number[] = [];
  const { scheduler, log } = createScheduler({ disconnect: (client) => gone.push(client) });
  await scheduler.enqueue(1, Uint8Array.from(Buffer.from('X\0\0\0\x04')), () => undefined);
  expect(gone).toEqual([1]);
  expect(log).toEqual([]);
});

it('reports that the engine broke', async () => {
  const onFatal = vi.fn<(error: Error) => void>();
  const { send } = createScheduler({ onFatal });
  await expect(send(1, 'broken')).rejects.toThrow('unreachable');
  expect(onFatal).toHaveBeenCalledOnce();
});

it('takes nothing more once it is closed', async () => {
  const { scheduler, send, log } = createScheduler();
  const running = send(1, 'last');
  await scheduler.close();
  await running;
  await expect(send(1, 'more')).rejects.toThrow('being stopped');
  await scheduler.clearTransactionIfNeeded(1);
  expect(log).toEqual(['last']);
});
