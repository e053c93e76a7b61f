import type { StorageMigration } from './storage-migration.js';

/** Each search asks whether its collection has vectors of another embedding model. */
export const modelsOfCollections: StorageMigration = {
  name: '0018-models-of-collections',
  up: (builder) => {
    builder.sql(
      'CREATE INDEX documents_models ON documents (collection, embedding_model) WHERE pending_since IS NULL AND chunk_count > 0',
    );
  },
  down: (builder) => {
    builder.sql('DROP INDEX documents_models');
  },
};
