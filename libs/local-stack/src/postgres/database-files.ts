import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { resolveDistEntry } from '../dist-entry.js';
import { acquireFileLock } from '../processes/file-lock.js';

const run = promisify(execFile);

/** Runs `fill` on a draft beside `target` and renames it into place: what exists under that name is whole. */
async function createWhole(target: string, fill: (draft: string) => Promise<void>): Promise<void> {
  const parent = await mkdtemp(`${target}.`);
  try {
    const draft = join(parent, 'draft');
    await fill(draft);
    await rename(draft, target);
  } finally {
    await rm(parent, { recursive: true, force: true });
  }
}

async function initialise(directory: string): Promise<void> {
  await run(process.execPath, [resolveDistEntry('libs/local-stack/src/postgres/initialise.js'), directory]);
}

/** An empty database to copy: made once, by whoever needs it first. */
async function provideTemplate(template: string): Promise<void> {
  if (existsSync(template)) return;
  const lock = await acquireFileLock(`${template}.lock`, { holder: 'another start', waitMs: 120_000 });
  try {
    if (!existsSync(template)) await createWhole(template, initialise);
  } finally {
    await lock.release();
  }
}

/**
 * Makes sure that a database exists in `directory`: as a copy of `template` (made when it does not exist; four times as
 * fast, for those who need many), else created. A process killed meanwhile leaves nothing half.
 */
export async function ensureDatabaseFiles(directory: string, template?: string): Promise<void> {
  if (existsSync(directory)) return;
  if (template === undefined) return createWhole(directory, initialise);
  await mkdir(join(template, '..'), { recursive: true });
  await provideTemplate(template);
  await createWhole(directory, (draft) => cp(template, draft, { recursive: true }));
}
