import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { projectRoot } from '#paths';

/**
 * A fresh directory below another one, the system's temporary one by default, and the function that removes it with all
 * it holds.
 */
export async function createTemporaryDirectory(
  parent = tmpdir(),
): Promise<{ path: string; remove(): Promise<void> }> {
  const path = await mkdtemp(join(parent, 'meganest-'));
  return { path, remove: () => rm(path, { recursive: true, force: true, maxRetries: 5 }) };
}

/** The repository's root directory. */
export const repositoryRoot = projectRoot;

/** Where a fetched nats-server stays between test runs. */
export const cacheDirectory = join(repositoryRoot, 'node_modules', '.cache', 'meganest');
