import type { StorageMigration } from './storage-migration.js';

/** A large document is written in several transactions; until the last one it is pending and not visible. */
export const documentsInParts: StorageMigration = {
  name: '0003-documents-in-parts',
  up: (builder) => {
    builder.sql('ALTER TABLE documents ADD COLUMN pending_since timestamptz');
    builder.sql('ALTER TABLE documents DROP CONSTRAINT documents_collection_filename_key');
    builder.sql(
      'CREATE UNIQUE INDEX documents_name ON documents (collection, filename) WHERE pending_since IS NULL',
    );
    builder.sql('CREATE INDEX documents_pending ON documents (id) WHERE pending_since IS NOT NULL');
  },
  down: (builder) => {
    builder.sql('DELETE FROM documents WHERE pending_since IS NOT NULL');
    builder.sql('DROP INDEX documents_name, documents_pending');
    builder.sql('ALTER TABLE documents DROP COLUMN pending_since');
    builder.sql('ALTER TABLE documents ADD UNIQUE (collection, filename)');
  },
};
