import type { StorageMigration } from './storage-migration.js';

/** Chat completions that their callers asked to keep. */
export const storedCompletions: StorageMigration = {
  name: '0004-stored-completions',
  up: (builder) => {
    builder.sql(`
      CREATE TABLE stored_completions (
        id text PRIMARY KEY,
        position bigint GENERATED ALWAYS AS IDENTITY,
        owner text NOT NULL,
        model text NOT NULL,
        completion json NOT NULL,
        messages json NOT NULL,
        metadata jsonb NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now()
      )`);
    builder.sql('CREATE INDEX stored_completions_position ON stored_completions (owner, position)');
  },
  down: (builder) => {
    builder.sql('DROP TABLE stored_completions');
  },
};
