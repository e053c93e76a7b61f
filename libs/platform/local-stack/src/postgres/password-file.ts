import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const fileOf = (dataDirectory: string) => join(dataDirectory, 'password');

/** The password of the database in a data directory. */
export async function readPassword(dataDirectory: string): Promise<string> {
  return (await readFile(fileOf(dataDirectory), 'utf8')).trim();
}

/**
 * The password of the database in a data directory; a new one at the first start. Only the owner can read its file. The
 * caller holds the lock of the directory.
 */
export async function providePassword(dataDirectory: string): Promise<string> {
  const existing = await readPassword(dataDirectory).catch(() => '');
  if (existing !== '') return existing;
  const password = randomBytes(32).toString('base64url');
  await writeFile(fileOf(dataDirectory), password, { mode: 0o600 });
  return password;
}
