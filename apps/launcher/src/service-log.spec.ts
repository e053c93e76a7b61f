import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RotatingFile, selectForConsole } from './service-log.js';

it.each([
  ['stdout', '{"level":30,"msg":"listening"}', undefined],
  ['stdout', '{"level":40,"msg":"slow"}', 'slow'],
  ['stdout', '{"level":50,"msg":"failed","err":{"message":"no model"}}', 'failed: no model'],
  [
    'stdout',
    '{"level":"error","msg":"embedded Postgres failed","error":"held"}',
    'embedded Postgres failed: held',
  ],
  ['stderr', '[7] 2026/11/20 12:00:00.000000 [INF] Server is ready', undefined],
  ['stderr', '[7] 2026/11/20 12:00:00.000000 [WRN] slow', '[7] 2026/11/20 12:00:00.000000 [WRN] slow'],
  ['stderr', 'EMBEDDING_PORT: expected number', 'EMBEDDING_PORT: expected number'],
  ['stdout', 'chatter', undefined],
] as const)('%s %s', (stream, text, shown) => {
  expect(selectForConsole({ stream, text })).toBe(shown);
});

describe('rotating file', () => {
  let directory: string;
  let path: string;
  let troubles: string[];

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'meganest-log-'));
    path = join(directory, 'llm.log');
    troubles = [];
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  function newFile(maxBytes = 1_000, keep = 2): RotatingFile {
    return new RotatingFile({ path, maxBytes, keep, onTrouble: (message) => troubles.push(message) });
  }

  /** Lines of 100 bytes, one in each turn. */
  async function write(file: RotatingFile, lines: number): Promise<void> {
    for (let line = 0; line < lines; line += 1) {
      file.append(String(line).padStart(99, '0'));
      await turn();
    }
  }

  describe('RotatingFile', () => {
    it('makes room while it is written, and keeps so many older files', async () => {
      await write(newFile(), 45);
      expect(statSync(path).size).toBe(500);
      expect(statSync(`${path}.1`).size).toBe(1_000);
      expect(readFileSync(`${path}.2`, 'utf8')).toContain('29\n');
      expect(existsSync(`${path}.3`)).toBe(false);
      expect(troubles).toEqual([]);
    });

    it('counts what an earlier start has left, and keeps nothing where it is told to', async () => {
      writeFileSync(path, 'x'.repeat(950));
      await write(newFile(1_000, 0), 1);
      expect(statSync(path).size).toBe(100);
      expect(existsSync(`${path}.1`)).toBe(false);
    });

    it.runIf(existsSync('/dev/full'))(
      'survives a full disk, says so once, and writes again when there is room',
      async () => {
        const file = newFile();
        symlinkSync('/dev/full', path);
        await write(file, 3);
        expect(troubles).toEqual([
          expect.stringMatching(/llm\.log cannot be written: ENOSPC.*lines are lost/),
        ]);
        rmSync(path);
        await write(file, 2);
        expect(troubles.slice(1)).toEqual([expect.stringContaining('written again; 3 lines were lost')]);
        expect(readFileSync(path, 'utf8')).toContain('3 lines were lost');
      },
    );

    it('is readable for its owner only', async () => {
      await write(newFile(), 1);
      expect(statSync(path).mode & 0o777).toBe(0o600);
    });
  });
});
