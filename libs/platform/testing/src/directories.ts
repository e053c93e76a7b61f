import { rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { projectRoot } from '#platform/foundation';

/** The temporary directories of this process that exist. Spec files have modules of their own, hence the global variable. */
function existing(): Set<string> {
  const shared = globalThis as { temporaryDirectories?: Set<string> };
  if (shared.temporaryDirectories) return shared.temporaryDirectories;
  const directories = (shared.temporaryDirectories = new Set<string>());
  // The test runner ends its processes with this signal.
  if (process.env.VITEST === 'true')
    process.once('SIGTERM', () => {
      for (const path of directories) rmSync(path, { recursive: true, force: true });
      process.exit();
    });
  return directories;
}

/**
 * A fresh directory below another one, the system's temporary one by default, and the function that removes it with all
 * it holds. In tests it also goes with the process.
 */
export async function createTemporaryDirectory(
  parent = tmpdir(),
): Promise<{ path: string; remove(): Promise<void> }> {
  const path = await mkdtemp(join(parent, 'meganest-'));
  existing().add(path);
  return {
    path,
    remove: async () => {
      await rm(path, { recursive: true, force: true, maxRetries: 5 });
      existing().delete(path);
    },
  };
}

/** The repository's root directory. */
export const repositoryRoot = projectRoot;

/** Where a fetched nats-server stays between test runs. */
export const cacheDirectory = join(repositoryRoot, 'node_modules', '.cache', 'meganest');
