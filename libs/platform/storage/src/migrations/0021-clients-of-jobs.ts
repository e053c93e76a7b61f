import type { StorageMigration } from './storage-migration.js';

/** The client of an ingest job: each client has a share of the queue. Jobs of an older version have the same, empty one. */
export const clientsOfJobs: StorageMigration = {
  name: '0021-clients-of-jobs',
  up: (builder) => {
    builder.sql(`ALTER TABLE ingest_jobs ADD COLUMN client text NOT NULL DEFAULT ''`);
  },
  down: (builder) => {
    builder.sql('ALTER TABLE ingest_jobs DROP COLUMN client');
  },
};
