import type { StorageMigration } from './storage-migration.js';
import { schema } from './0001-schema.js';
import { batches } from './0027-batches.js';
import { engines } from './0030-engines.js';
import { documentOriginals } from './0031-document-originals.js';
import { shortPendingLists } from './0032-short-pending-lists.js';

/** Every migration, oldest first. They are modules instead of .sql files, so that the build includes them. */
export const migrations: readonly StorageMigration[] = [
  schema,
  batches,
  engines,
  documentOriginals,
  shortPendingLists,
];
