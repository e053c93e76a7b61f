import type { StorageMigration } from './storage-migration.js';

/** A job may be paused. `epoch` increases with each new owner: a process with an older number has lost the job. */
export const jobsThatWait: StorageMigration = {
  name: '0016-jobs-that-wait',
  up: (builder) => {
    builder.sql(`
      ALTER TABLE ingest_jobs DROP CONSTRAINT ingest_jobs_state_check,
        ADD CONSTRAINT ingest_jobs_state_check
          CHECK (state IN ('queued', 'running', 'paused', 'succeeded', 'failed', 'cancelled')),
        ADD COLUMN epoch integer NOT NULL DEFAULT 0`);
  },
  down: (builder) => {
    builder.sql(`UPDATE ingest_jobs SET state = 'queued' WHERE state = 'paused'`);
    builder.sql(`
      ALTER TABLE ingest_jobs DROP COLUMN epoch, DROP CONSTRAINT ingest_jobs_state_check,
        ADD CONSTRAINT ingest_jobs_state_check
          CHECK (state IN ('queued', 'running', 'succeeded', 'failed', 'cancelled'))`);
  },
};
