import { join } from 'node:path';
import { projectRoot } from '#paths';

/** The repository's root directory. */
export const repositoryRoot = projectRoot;

/** Where a fetched nats-server stays between test runs. */
export const cacheDirectory = join(repositoryRoot, 'node_modules', '.cache', 'meganest');
