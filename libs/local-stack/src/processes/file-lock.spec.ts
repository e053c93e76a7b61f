import { mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { acquireFileLock, LockHeldError } from './file-lock.js';

let directory: string;
let path: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'lock-'));
  path = join(directory, 'some.lock');
});

afterEach(() => rm(directory, { recursive: true }));

it('belongs to one holder at a time, whom it names', async () => {
  const lock = await acquireFileLock(path, { holder: 'the first' });
  await expect(acquireFileLock(path, { holder: 'the second' })).rejects.toThrow(LockHeldError);
  await expect(acquireFileLock(path, { holder: 'the second' })).rejects.toThrow(/held by the first/);
  await lock.release();
  await (await acquireFileLock(path, { holder: 'the second' })).release();
  expect(readdirSync(directory)).toEqual([]);
});

it('waits for its turn when asked to', async () => {
  const lock = await acquireFileLock(path, { holder: 'the first' });
  const second = acquireFileLock(path, { holder: 'the second', waitMs: 10_000 });
  await lock.release();
  await (await second).release();
  expect(readdirSync(directory)).toEqual([]);
});

it('is taken over from a process that is gone, by one of many', async () => {
  const gone = { pid: process.pid, startedAt: 'another time', nonce: 'n', holder: 'a ghost' };
  writeFileSync(path, JSON.stringify(gone));
  const attempts = await Promise.allSettled(
    Array.from({ length: 8 }, () => acquireFileLock(path, { holder: 'heir' })),
  );
  expect(attempts.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  expect(readdirSync(directory)).toEqual(['some.lock']);
});
