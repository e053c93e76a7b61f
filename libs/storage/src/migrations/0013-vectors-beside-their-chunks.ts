import type { StorageMigration } from './storage-migration.js';

/**
 * Rows up to a page keep their vector and their words in place of the TOAST table: comparing chunks one by one took twice as
 * long from there, and ranking them by words half as long again. Holds for chunks that are stored from now on.
 */
export const vectorsBesideTheirChunks: StorageMigration = {
  name: '0013-vectors-beside-their-chunks',
  up: (builder) => {
    builder.sql('ALTER TABLE chunks SET (toast_tuple_target = 8160)');
  },
  down: (builder) => {
    builder.sql('ALTER TABLE chunks RESET (toast_tuple_target)');
  },
};
