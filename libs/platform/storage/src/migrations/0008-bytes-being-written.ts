import type { StorageMigration } from './storage-migration.js';

/** A file counts against its owner's quota from its first byte on, not only when it is complete. */
export const bytesBeingWritten: StorageMigration = {
  name: '0008-bytes-being-written',
  up: (builder) => {
    builder.sql('ALTER TABLE files ADD COLUMN writing bigint NOT NULL DEFAULT 0');
  },
  down: (builder) => {
    builder.sql('ALTER TABLE files DROP COLUMN writing');
  },
};
