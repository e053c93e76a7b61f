import type { BatchResult, StoredBatch } from '#platform/storage';
import { describe, expect, it } from 'vitest';
import { sendPatiently } from './send-patiently.js';

/** Sends a request whose answers have these statuses; the last one comes again and again. */
async function sending(statuses: number[], millisecondsLeft = 3_600_000) {
  const pauses: number[] = [];
  let sent = 0;
  const requests = {
    send: (): Promise<BatchResult> => {
      const status = statuses[Math.min(sent, statuses.length - 1)]!;
      sent += 1;
      return Promise.resolve({ status, requestId: `${sent}`, body: {} });
    },
  };
  const batch = { expiresAt: new Date(Date.now() + millisecondsLeft) } as StoredBatch;
  const { signal } = new AbortController();
  const sleep = (milliseconds: number) => Promise.resolve(void pauses.push(milliseconds));
  const { status } = await sendPatiently(requests, { batch, body: {}, signal }, { sleep });
  return { status, sent, pauses };
}

describe('sendPatiently', () => {
  it('sends again after 429 until there is an answer, with growing pauses up to half a minute', async () => {
    const { status, sent, pauses } = await sending([...Array<number>(12).fill(429), 200]);
    expect([status, sent]).toEqual([200, 13]);
    expect(pauses[0]).toBeLessThanOrEqual(1_000);
    expect(Math.max(...pauses)).toBeLessThanOrEqual(30_000);
    expect(pauses.at(-1)).toBeGreaterThanOrEqual(15_000);
  });

  it('gives up where the batch would expire before the next attempt', async () => {
    expect(await sending([429], 100)).toEqual({ status: 429, sent: 1, pauses: [] });
  });

  it('asks a service that is away eight times', async () => {
    expect(await sending([503])).toMatchObject({ status: 503, sent: 8 });
  });

  it('does not repeat other answers', async () => {
    for (const status of [200, 400, 404, 500])
      expect(await sending([status])).toMatchObject({ status, sent: 1 });
  });
});
