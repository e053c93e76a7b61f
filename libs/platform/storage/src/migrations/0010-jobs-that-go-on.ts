import type { StorageMigration } from './storage-migration.js';

/** An ingest job keeps its request, so that another process can continue it after the first one has died. */
export const jobsThatGoOn: StorageMigration = {
  name: '0010-jobs-that-go-on',
  up: (builder) => {
    builder.sql(
      'ALTER TABLE ingest_jobs ADD COLUMN request jsonb, ADD COLUMN attempts integer NOT NULL DEFAULT 1',
    );
    builder.sql('CREATE INDEX ingest_jobs_unfinished ON ingest_jobs (updated_at) WHERE finished_at IS NULL');
    builder.sql(
      'CREATE INDEX ingest_jobs_finished ON ingest_jobs (finished_at) WHERE finished_at IS NOT NULL',
    );
  },
  down: (builder) => {
    builder.sql('DROP INDEX ingest_jobs_unfinished, ingest_jobs_finished');
    builder.sql('ALTER TABLE ingest_jobs DROP COLUMN request, DROP COLUMN attempts');
  },
};
