import type { Drain } from '#platform/service-kit';
import type { BatchesRepository, StoredBatch } from '#platform/storage';
import { describe, expect, it } from 'vitest';
import type { GatewayEnvironment } from '../config/gateway.environment.js';
import type { BatchFiles } from './batch-files.js';
import { BatchRunner } from './batch-runner.js';
import type { OwnRequests } from './own-requests.js';

/** Runs one batch of three requests that lasts so long; each request takes the given time. */
async function runBatch(dialect: 'openai' | 'anthropic', expiresAt: Date) {
  const calls: unknown[] = [];
  const batch = { id: 'batch_1', owner: 'o', dialect, status: 'in_progress', expiresAt } as StoredBatch;
  let waiting = [0, 1, 2];
  let advance: (change: object) => void = () => undefined;
  const ended = new Promise<object>((resolve) => {
    advance = resolve;
  });
  let isClaimed = false;
  const batches = {
    claim: () => Promise.resolve(isClaimed ? [] : ((isClaimed = true), [batch])),
    heartbeat: () => Promise.resolve(batch.status === 'in_progress' ? batch : undefined),
    waiting: (_id: string, free: number, running: number[]) =>
      Promise.resolve(
        waiting
          .filter((line) => !running.includes(line))
          .slice(0, free)
          .map((line) => ({ line, customId: `${line}`, body: {} })),
      ),
    answer: (_id: string, _lease: string, { line }: { line: number }) => {
      waiting = waiting.filter((each) => each !== line);
      batch.expiresAt = new Date(0);
      return Promise.resolve(true);
    },
    endWaiting: (_id: string, state: string) => Promise.resolve(void calls.push([state, waiting.length])),
    advance: (_id: string, _lease: string, change: { status: string }) => {
      batch.status = change.status as StoredBatch['status'];
      advance(change);
      return Promise.resolve(true);
    },
    release: () => Promise.resolve(),
    deleteOlderThan: () => Promise.resolve(),
  } as unknown as BatchesRepository;
  const requests = {
    send: () => Promise.resolve({ status: 200, requestId: '1', body: {} }),
  } as unknown as OwnRequests;
  const files = {
    write: (_batch: StoredBatch, kind: string, states: string[]) => {
      calls.push([kind, states]);
      return Promise.resolve(`file-${kind}`);
    },
  } as unknown as BatchFiles;
  const environment = { LOG_LEVEL: 'silent', RESPONSES_LEASE_MS: 60_000 } as unknown as GatewayEnvironment;
  const drain = { begun: false, onBegin: () => undefined } as unknown as Drain;
  const runner = new BatchRunner(batches, requests, files, environment, drain);
  runner.wake();
  const change = await ended;
  await runner.beforeApplicationShutdown();
  return { change, calls };
}

describe('a batch that expires', () => {
  it('ends with files of what was answered and of what was not', async () => {
    const { change, calls } = await runBatch('openai', new Date(0));
    expect(change).toEqual({ status: 'expired', outputFileId: 'file-output', errorFileId: 'file-error' });
    expect(calls).toEqual([
      ['expired', 3],
      ['output', ['succeeded']],
      ['error', ['failed', 'cancelled', 'expired']],
    ]);
  });

  it('keeps the answers of the requests that had begun, and sends no further ones', async () => {
    const { calls } = await runBatch('openai', new Date(Date.now() + 3_600_000));
    expect(calls[0]).toEqual(['expired', 1]);
  });

  it('does not have files in the dialect of Anthropic', async () => {
    const { change, calls } = await runBatch('anthropic', new Date(0));
    expect(change).toEqual({ status: 'expired' });
    expect(calls).toEqual([['expired', 3]]);
  });
});
