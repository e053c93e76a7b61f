import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The repository: this file is libs/testing/src, whether as source or below dist. */
function findRepository(): string {
  const library = dirname(dirname(dirname(dirname(fileURLToPath(import.meta.url)))));
  return library.endsWith('dist') ? dirname(library) : library;
}

/** The repository's root directory. */
export const repositoryRoot = findRepository();

/** Where a fetched nats-server stays between test runs. */
export const cacheDirectory = join(repositoryRoot, 'node_modules', '.cache', 'meganest');
