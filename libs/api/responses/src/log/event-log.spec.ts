import { describe, expect, it } from 'vitest';
import { EventLog } from './event-log.js';
import type { ResponseEvent } from './events.js';

const event = (sequence_number: number, type = 'response.in_progress') =>
  ({ type, sequence_number }) as ResponseEvent;

async function numbersOf(log: EventLog, startingAfter?: number, signal?: AbortSignal): Promise<number[]> {
  const numbers: number[] = [];
  for await (const { sequence_number } of log.follow(startingAfter, signal)) numbers.push(sequence_number);
  return numbers;
}

describe('EventLog', () => {
  it('gives every reader every event once, whenever it comes', async () => {
    const log = new EventLog();
    const early = numbersOf(log);
    log.append([event(0), event(1)]);
    const middle = numbersOf(log, 0);
    await Promise.resolve();
    log.append([event(2)]);
    log.append([event(3, 'response.completed')]);
    expect(await early).toEqual([0, 1, 2, 3]);
    expect(await middle).toEqual([1, 2, 3]);
    expect(await numbersOf(log, 2)).toEqual([3]);
    expect(await numbersOf(log, 9)).toEqual([]);
  });

  it('takes nothing after its end', async () => {
    const log = new EventLog();
    log.append([event(0, 'response.failed')]);
    log.append([event(1)]);
    expect(await numbersOf(log)).toEqual([0]);
  });

  it('throws at readers when its writer lost it, after what was written', async () => {
    const log = new EventLog();
    log.append([event(0)]);
    const reading = numbersOf(log);
    log.abandon(new Error('taken over'));
    await expect(reading).rejects.toThrow('taken over');
  });

  it('lets a reader go that aborts', async () => {
    const log = new EventLog();
    const abort = new AbortController();
    const reading = numbersOf(log, -1, abort.signal);
    abort.abort();
    expect(await reading).toEqual([]);
  });
});
