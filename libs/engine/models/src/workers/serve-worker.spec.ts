import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { getPriority } from 'node:os';
import path from 'node:path';
import { Worker } from 'node:worker_threads';
import { bundleProgram } from '#platform/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPulse, type FromWorker, type ToWorker } from './worker-messages.js';

/** Says a few things over several promises; of `function` it says what no thread can hand over. */
const program = `
import { getPriority } from 'node:os';
import { serveWorker } from ${JSON.stringify(path.join(import.meta.dirname, 'serve-worker.js'))};
await serveWorker(async () => ({
  ready: getPriority(0),
  dispose: async () => {},
  handle: async (payload, { emit }) => {
    for (const word of ['one', 'two', 'three']) {
      emit(payload + ' ' + word);
      await undefined;
    }
    return payload === 'function' ? { value: () => {} } : { value: payload };
  },
}));
`;

type Message = FromWorker<number, string, unknown>;

describe('serveWorker', () => {
  let entry: string;
  let worker: Worker;
  const received: Message[] = [];
  const send = (message: ToWorker<string>) => worker.postMessage(message, []);
  beforeAll(async () => {
    entry = await bundleProgram(program);
    worker = new Worker(entry, { execArgv: [], workerData: { pulse: createPulse() } });
    worker.on('message', (message: Message) => received.push(message));
    await once(worker, 'message');
  });
  afterAll(() => rm(path.dirname(entry), { recursive: true }));

  it('hands what several calls say over in few messages, in order, and what it says last before it ends', async () => {
    const ended = once(worker, 'exit');
    for (const [id, payload] of ['a', 'function', 'b'].entries()) send({ type: 'call', id, payload });
    send({ type: 'close' });
    await ended;
    expect(received[0]).toMatchObject({ type: 'ready' });
    const batches = received.flatMap((message) => (message.type === 'calls' ? [message.messages] : []));
    const of = (call: number) => batches.flat().filter(({ id }) => id === call);
    expect(of(0)).toEqual([
      { type: 'event', id: 0, value: 'a one' },
      { type: 'event', id: 0, value: 'a two' },
      { type: 'event', id: 0, value: 'a three' },
      { type: 'result', id: 0, value: 'a' },
    ]);
    expect(of(2).map(({ type }) => type)).toEqual(['event', 'event', 'event', 'result']);
    expect(of(1).at(-1)).toMatchObject({
      type: 'error',
      error: { message: expect.stringContaining('could not be cloned') as string },
    });
    expect(of(1).map(({ type }) => type)).toEqual(['event', 'event', 'event', 'error']);
    // Alone, each of the twelve would have been a message.
    expect(batches.length).toBeLessThan(12);
  });

  it.runIf(process.platform === 'linux')('computes behind the threads that answer', () => {
    expect(received[0]).toMatchObject({ value: Math.max(getPriority(), 5) });
  });
});
