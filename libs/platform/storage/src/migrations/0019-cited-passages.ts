import type { StorageMigration } from './storage-migration.js';

/** The passages that answers cite, for the searches of later turns: gateways share them. */
export const citedPassages: StorageMigration = {
  name: '0019-cited-passages',
  up: (builder) => {
    // A crash may lose them: later turns are then searched without them.
    builder.sql(`
      CREATE UNLOGGED TABLE cited_passages (
        key text PRIMARY KEY,
        passages jsonb NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now()
      )`);
    builder.sql('CREATE INDEX cited_passages_age ON cited_passages (created_at)');
  },
  down: (builder) => {
    builder.sql('DROP TABLE cited_passages');
  },
};
