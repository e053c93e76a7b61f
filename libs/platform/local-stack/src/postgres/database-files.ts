import { builtFile } from '#platform/foundation';
import { PGlite } from '@electric-sql/pglite';
import { vector } from '@electric-sql/pglite-pgvector';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { acquireFileLock } from '../processes/file-lock.js';

const run = promisify(execFile);

/** Removes drafts of killed processes. Only the holder of the directory's lock may call this. */
async function removeDrafts(target: string): Promise<void> {
  const names = await readdir(dirname(target)).catch(() => []);
  const drafts = names.filter((name) => name.startsWith(`${basename(target)}.`) && !name.endsWith('.lock'));
  await Promise.all(drafts.map((name) => rm(join(dirname(target), name), { recursive: true, force: true })));
}

/** Runs `fill` on a draft next to `target` and renames it to `target`, so that `target` is always complete. */
async function createWhole(target: string, fill: (draft: string) => Promise<void>): Promise<void> {
  await removeDrafts(target);
  const parent = await mkdtemp(`${target}.`);
  try {
    const draft = join(parent, 'draft');
    await fill(draft);
    await rename(draft, target);
  } finally {
    await rm(parent, { recursive: true, force: true });
  }
}

async function initialize(directory: string): Promise<void> {
  await run(process.execPath, [builtFile('initialize'), directory]);
}

/** Creates the empty template database, if it does not exist. */
async function provideTemplate(template: string): Promise<void> {
  if (existsSync(template)) return;
  const lock = await acquireFileLock(`${template}.lock`, { holder: 'another start', waitMs: 120_000 });
  try {
    if (!existsSync(template)) await createWhole(template, initialize);
  } finally {
    await lock.release();
  }
}

/**
 * Creates the database in `directory`, if it does not exist. With `template` it copies this empty database, which is
 * four times as fast, and creates the template first if necessary. A killed process does not leave an incomplete
 * database.
 */
export async function ensureDatabaseFiles(directory: string, template?: string): Promise<void> {
  if (existsSync(directory)) return;
  if (template === undefined) return createWhole(directory, initialize);
  await mkdir(dirname(template), { recursive: true });
  await provideTemplate(template);
  await createWhole(directory, (draft) => cp(template, draft, { recursive: true }));
}

/** Opens the database in `directory`, and creates it if it does not exist. */
export function openDatabase(directory: string): Promise<PGlite> {
  return PGlite.create({
    dataDir: directory,
    extensions: { vector },
    // 128 MB by default; WebAssembly memory never shrinks.
    startParams: [...PGlite.defaultStartParams, '-c', 'shared_buffers=64MB'],
  });
}
