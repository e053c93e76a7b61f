import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { EnvironmentError } from '#service-kit';

const reasons: Record<string, string> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOTDIR: 'a part of the path is a file',
  EEXIST: 'it is a file',
  ENOENT: 'this file system makes no directories',
  ENOSPC: 'the disk is full',
};

/** One directory after the other: `recursive` never ends where a file system, like /proc, makes none. */
async function makeDirectory(path: string): Promise<void> {
  if (existsSync(path)) return;
  await makeDirectory(dirname(path));
  await mkdir(path);
}

/** Makes the data directory and tries to write in it. Errors: EnvironmentError that names MEGANEST_DATA_DIR and the reason. */
export async function prepareDataDirectory(path: string): Promise<void> {
  const probe = join(path, `.writable-${process.pid}`);
  try {
    await makeDirectory(path);
    // A full disk still has names for empty files.
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
