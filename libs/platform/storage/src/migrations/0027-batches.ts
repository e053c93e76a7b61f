import type { StorageMigration } from './storage-migration.js';

/** Batches of requests, which gateways work on one after the other and take over from each other. */
export const batches: StorageMigration = {
  name: '0027-batches',
  up: (builder) => {
    builder.sql(`
      CREATE TABLE batches (
        id text PRIMARY KEY,
        position bigserial NOT NULL UNIQUE,
        owner text NOT NULL,
        dialect text NOT NULL,
        caller json NOT NULL,
        endpoint text NOT NULL,
        input_file_id text,
        completion_window text NOT NULL,
        metadata json,
        output_seconds int,
        status text NOT NULL,
        total int NOT NULL DEFAULT 0,
        completed int NOT NULL DEFAULT 0,
        failed int NOT NULL DEFAULT 0,
        errors json,
        output_file_id text,
        error_file_id text,
        times jsonb NOT NULL DEFAULT '{}',
        created_at timestamptz NOT NULL DEFAULT now(),
        expires_at timestamptz NOT NULL,
        finished_at timestamptz,
        lease_owner text,
        lease_until timestamptz NOT NULL DEFAULT now()
      )`);
    builder.sql('CREATE INDEX batches_of_owner ON batches (owner, dialect, position)');
    builder.sql('CREATE INDEX batches_unfinished ON batches (lease_until) WHERE finished_at IS NULL');
    builder.sql(`
      CREATE TABLE batch_requests (
        batch_id text NOT NULL REFERENCES batches ON DELETE CASCADE,
        line int NOT NULL,
        custom_id text NOT NULL,
        body json NOT NULL,
        state text NOT NULL DEFAULT 'waiting',
        result json,
        PRIMARY KEY (batch_id, line)
      )`);
  },
};
