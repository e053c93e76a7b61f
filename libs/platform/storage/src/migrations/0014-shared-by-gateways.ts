import type { StorageMigration } from './storage-migration.js';

/** State that gateways share: counts of rate limits, and answers of chats by their Idempotency-Key. */
export const sharedByGateways: StorageMigration = {
  name: '0014-shared-by-gateways',
  up: (builder) => {
    // Each count covers one minute, so a crash may lose them.
    builder.sql(`
      CREATE UNLOGGED TABLE rate_counts (
        key text PRIMARY KEY,
        count integer NOT NULL,
        ends_at timestamptz NOT NULL
      )`);
    builder.sql(`
      CREATE TABLE idempotent_answers (
        owner text NOT NULL,
        key text NOT NULL,
        fingerprint text NOT NULL,
        lease_owner text NOT NULL,
        lease_until timestamptz NOT NULL,
        answer jsonb,
        created_at timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (owner, key)
      )`);
    builder.sql('CREATE INDEX idempotent_answers_age ON idempotent_answers (created_at)');
  },
  down: (builder) => {
    builder.sql('DROP TABLE idempotent_answers');
    builder.sql('DROP TABLE rate_counts');
  },
};
