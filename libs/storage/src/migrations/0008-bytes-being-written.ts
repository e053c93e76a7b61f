import type { StorageMigration } from './storage-migration.js';

/** What is being written counts against its owner's quota from its first byte on, and not only when it is complete. */
export const bytesBeingWritten: StorageMigration = {
  name: '0008-bytes-being-written',
  up: (builder) => {
    builder.sql('ALTER TABLE files ADD COLUMN writing bigint NOT NULL DEFAULT 0');
  },
  down: (builder) => {
    builder.sql('ALTER TABLE files DROP COLUMN writing');
  },
};
