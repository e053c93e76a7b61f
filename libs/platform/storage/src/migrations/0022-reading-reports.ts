import type { StorageMigration } from './storage-migration.js';

/** What was read of a document, and what was not. */
export const readingReports: StorageMigration = {
  name: '0022-reading-reports',
  up: (builder) => {
    builder.sql("ALTER TABLE documents ADD COLUMN reading jsonb NOT NULL DEFAULT '{}'");
  },
  down: (builder) => {
    builder.sql('ALTER TABLE documents DROP COLUMN reading');
  },
};
