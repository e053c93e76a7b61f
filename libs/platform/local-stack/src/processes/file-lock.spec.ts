import { mkdtempSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
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

describe('a holder in another container, whose process cannot be seen', () => {
  const foreign = {
    pid: 1,
    startedAt: 'elsewhere',
    nonce: 'n',
    holder: 'a container',
    space: 'another boot',
  };

  it('keeps the lock as long as it touches it', async () => {
    writeFileSync(path, JSON.stringify(foreign));
    let time = 1_000;
    const beats = setInterval(() => utimesSync(path, time, (time += 1)), 20);
    const second = acquireFileLock(path, { holder: 'the second', silenceMs: 2_000 });
    await expect(second).rejects.toThrow(/held by a container/);
    clearInterval(beats);
    // Silent from now on: it is dead.
    const lock = await acquireFileLock(path, { holder: 'the second', silenceMs: 200 });
    await lock.release();
    expect(readdirSync(directory)).toEqual([]);
  });

  it('is told by our beats that we live', async () => {
    const lock = await acquireFileLock(path, { holder: 'the first', silenceMs: 100 });
    utimesSync(path, 1_000, 1_000);
    await expect.poll(() => statSync(path).mtimeMs).toBeGreaterThan(1_000_000);
    const { space } = JSON.parse(readFileSync(path, 'utf8')) as { space: string };
    // Another view of the same lock: its space is not ours.
    writeFileSync(path, JSON.stringify({ ...foreign, nonce: 'ours' }));
    await expect(acquireFileLock(path, { holder: 'the second', silenceMs: 1_000 })).rejects.toThrow(
      LockHeldError,
    );
    expect(space).toBeTypeOf('string');
    await lock.release();
  });
});
