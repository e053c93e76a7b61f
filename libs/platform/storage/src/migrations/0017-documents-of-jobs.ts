import type { StorageMigration } from './storage-migration.js';

/**
 * Each document of an ingest job has a row, so that several processes share the job. `documents` is null for a job of
 * an older version, which runs in one process.
 */
export const documentsOfJobs: StorageMigration = {
  name: '0017-documents-of-jobs',
  up: (builder) => {
    builder.sql(
      'ALTER TABLE ingest_jobs ADD COLUMN documents integer, ADD COLUMN ended_documents integer NOT NULL DEFAULT 0',
    );
    builder.sql(`
      CREATE TABLE ingest_job_documents (
        job_id uuid NOT NULL REFERENCES ingest_jobs (id) ON DELETE CASCADE,
        position integer NOT NULL,
        weight smallint NOT NULL,
        state text NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'running', 'ended')),
        attempts smallint NOT NULL DEFAULT 0,
        owner uuid,
        renewed_at timestamptz,
        outcome jsonb,
        PRIMARY KEY (job_id, position)
      )`);
    builder.sql(
      `CREATE INDEX ingest_job_documents_open ON ingest_job_documents (job_id, position) WHERE state <> 'ended'`,
    );
  },
  down: (builder) => {
    builder.sql('DROP TABLE ingest_job_documents');
    builder.sql('ALTER TABLE ingest_jobs DROP COLUMN documents, DROP COLUMN ended_documents');
  },
};
