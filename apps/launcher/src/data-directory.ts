import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { EnvironmentError } from '#platform/service-kit';

const reasons: Record<string, string> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOTDIR: 'a part of the path is a file',
  EEXIST: 'it is a file',
  ENOENT: 'this file system does not allow new directories',
  ENOSPC: 'the disk is full',
};

/** Creates a directory and its parents. `recursive` of mkdir never ends on /proc, which does not allow directories. */
async function makeDirectory(path: string): Promise<void> {
  if (existsSync(path)) return;
  await makeDirectory(dirname(path));
  await mkdir(path);
}

/**
 * Creates the data directory and writes a test file. Errors: EnvironmentError with MEGANEST_DATA_DIR and the reason.
 */
export async function prepareDataDirectory(path: string): Promise<void> {
  const probe = join(path, `.writable-${process.pid}`);
  try {
    await makeDirectory(path);
    // An empty file can be created even on a full disk.
    try {
      await writeFile(probe, Buffer.alloc(4_096));
    } finally {
      await rm(probe, { force: true });
    }
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    throw new EnvironmentError(
      `MEGANEST_DATA_DIR: ${path} cannot be used: ${reasons[code] ?? message}. Set it to a directory that can be written.`,
      { cause: error },
    );
  }
}
