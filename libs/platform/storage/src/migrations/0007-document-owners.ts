import type { StorageMigration } from './storage-migration.js';

/**
 * Documents and chunks of a vector store have its owner; all others have null. Searches, lists and deletions check that
 * column, so that the name of a collection alone does not give access.
 */
export const documentOwners: StorageMigration = {
  name: '0007-document-owners',
  up: (builder) => {
    builder.sql('ALTER TABLE documents ADD COLUMN owner text');
    builder.sql('ALTER TABLE chunks ADD COLUMN owner text');
    builder.sql(`
      UPDATE documents SET owner = vector_stores.owner FROM vector_stores
      WHERE documents.collection = vector_stores.id`);
    // Remains of a deletion that raced with indexing; no caller owns such a collection without a store.
    builder.sql(`DELETE FROM documents WHERE owner IS NULL AND collection LIKE 'vs\\_%'`);
    builder.sql(`
      UPDATE chunks SET owner = documents.owner FROM documents
      WHERE chunks.document_id = documents.id AND documents.owner IS NOT NULL`);
    builder.sql('DROP INDEX documents_name');
    builder.sql(`
      CREATE UNIQUE INDEX documents_name ON documents (collection, filename, coalesce(owner, ''))
      WHERE pending_since IS NULL`);
    // Without statistics the planner assumes that null is rare in the column, and sorts instead of using an index.
    builder.sql('ANALYZE chunks (owner), documents');
  },
  down: (builder) => {
    builder.sql('DELETE FROM documents WHERE owner IS NOT NULL');
    builder.sql('DROP INDEX documents_name');
    builder.sql('ALTER TABLE chunks DROP COLUMN owner');
    builder.sql('ALTER TABLE documents DROP COLUMN owner');
    builder.sql(
      'CREATE UNIQUE INDEX documents_name ON documents (collection, filename) WHERE pending_since IS NULL',
    );
  },
};
