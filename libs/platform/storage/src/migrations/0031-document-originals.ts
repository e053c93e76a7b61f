import type { StorageMigration } from './storage-migration.js';

/** Keeps the files that documents were read from, in pieces. `original_bytes` is null where the file is not kept. */
export const documentOriginals: StorageMigration = {
  name: '0031-document-originals',
  up: (builder) =>
    builder.sql(`
    ALTER TABLE documents ADD COLUMN original_bytes bigint;
    CREATE TABLE document_originals (
      document_id uuid NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
      start bigint NOT NULL,
      content bytea NOT NULL,
      PRIMARY KEY (document_id, start)
    );
    -- Most formats are packed already.
    ALTER TABLE document_originals ALTER COLUMN content SET STORAGE EXTERNAL;`),
};
