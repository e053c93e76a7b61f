import type { StorageMigration } from './storage-migration.js';

/**
 * The words of new chunks wait in a list until they are moved into the index, and each term of a search reads the whole
 * list. At the default of 4 MB a search after an upload took twice as long, and the one statement that fills the list
 * moves all of it while the embedded database's other clients wait. 64 kB is the smallest value.
 */
export const shortPendingLists: StorageMigration = {
  name: '0032-short-pending-lists',
  up: (builder) =>
    builder.sql(`
    ALTER INDEX chunks_search SET (gin_pending_list_limit = 64);
    ALTER INDEX chunks_metadata SET (gin_pending_list_limit = 64);
    SELECT gin_clean_pending_list('chunks_search'), gin_clean_pending_list('chunks_metadata');`),
};
