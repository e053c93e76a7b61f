import type { StorageMigration } from './storage-migration.js';

/** Engines that the API has added, with their keys. */
export const engines: StorageMigration = {
  name: '0030-engines',
  up: (builder) => {
    builder.sql(`
      CREATE TABLE engines (
        id text PRIMARY KEY,
        spec jsonb NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now()
      )`);
  },
};
