import type { StorageMigration } from './storage-migration.js';

/** Generated secrets that the processes of one installation share. */
export const secrets: StorageMigration = {
  name: '0006-secrets',
  up: (builder) => {
    builder.sql(`
      CREATE TABLE secrets (
        name text PRIMARY KEY,
        value bytea NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now()
      )`);
  },
  down: (builder) => {
    builder.sql('DROP TABLE secrets');
  },
};
