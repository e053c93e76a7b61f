import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createTemporaryDirectory } from '#platform/testing';
import { ProcessRegister } from './process-register.js';

let directory: { path: string; remove(): Promise<void> };
let path: string;
const children: ChildProcess[] = [];

async function startIdler(): Promise<number> {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e6)']);
  children.push(child);
  await once(child, 'spawn');
  return child.pid ?? 0;
}

beforeEach(async () => {
  directory = await createTemporaryDirectory();
  path = join(directory.path, 'processes.json');
});

afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  await directory.remove();
});

it('ends what an earlier launcher left running, and names it', async () => {
  const earlier = new ProcessRegister(path);
  earlier.add('embedding', await startIdler());
  earlier.add('llm', await startIdler());
  const [embedding, llm] = children.map((child) => once(child, 'exit'));
  expect(await new ProcessRegister(path, 50).endLeftovers()).toEqual(['embedding', 'llm']);
  expect((await embedding)?.[1]).toBe('SIGKILL');
  expect((await llm)?.[1]).toBe('SIGKILL');
});

it('remembers the last run of each child, and nothing after a clean stop', async () => {
  const register = new ProcessRegister(path);
  register.add('llm', 1_999_999_999);
  register.add('llm', await startIdler());
  expect(await new ProcessRegister(path, 0).endLeftovers()).toEqual(['llm']);
  register.clear();
  expect(existsSync(path)).toBe(false);
  expect(await new ProcessRegister(path).endLeftovers()).toEqual([]);
});

it.runIf(existsSync('/dev/full'))('is no reason to stop where the disk takes no file', async () => {
  symlinkSync('/dev/full', `${path}.draft`);
  expect(new ProcessRegister(path).add('llm', process.pid)).toBe(false);
});
