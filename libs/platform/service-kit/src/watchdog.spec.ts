import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';

const run = promisify(execFile);

/** The module as JavaScript, without its exports: what it does needs a process of its own, which may die. */
const module = ts
  .transpile(readFileSync(join(import.meta.dirname, 'watchdog.ts'), 'utf8'), {
    module: ts.ModuleKind.ESNext,
    target: ts.ScriptTarget.ES2022,
  })
  .replace('export function', 'function');

/** Runs a script beside a watchdog of 400 ms. */
function beside(script: string, start = 'startWatchdog(400);') {
  const args = ['--input-type=module', '-e', `${module}\n${start}\n${script}`];
  return run(process.execPath, args).then(
    ({ stdout }) => ({ stdout, stderr: '', signal: null }),
    ({ stdout, stderr, signal }: { stdout: string; stderr: string; signal: string }) => ({
      stdout,
      stderr,
      signal,
    }),
  );
}

describe('startWatchdog', () => {
  it('ends a process whose event loop stands still, and says why', async () => {
    const { signal, stderr } = await beside('for (;;);');
    expect(stderr).toContain('The event loop has stood still for 0.4 s');
    expect(signal).toBe('SIGKILL');
  });

  it('says which work was under way when it stood still', async () => {
    const slots = 'const slots = new Uint8Array(new SharedArrayBuffer(320));';
    const write =
      "slots.set([5, ...Buffer.from('POST /v1/docsum 7').subarray(0, 5)]); slots.set([17, ...Buffer.from('POST /v1/docsum 7')], 160);";
    const { stderr } = await beside(
      'for (;;);',
      `${slots} ${write} startWatchdog(400, { slots, slotBytes: 160 });`,
    );
    const [first, last] = stderr.trim().split('\n');
    expect(first).toMatch(/stood still for 0\.[23]\d* s\. Under way: POST , POST \/v1\/docsum 7\./);
    expect(last).toMatch(/ends itself\. Under way: .*docsum 7\./);
  });

  it('lets a process work and end', async () => {
    const work = 'for (let turn = 0; turn < 10; turn += 1) await new Promise((go) => setTimeout(go, 100));';
    expect(await beside(`${work} console.log('done');`)).toEqual({
      stdout: 'done\n',
      stderr: '',
      signal: null,
    });
  });
});
