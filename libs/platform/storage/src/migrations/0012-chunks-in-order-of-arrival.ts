import type { StorageMigration } from './storage-migration.js';

/**
 * Numbers chunks as they arrive, so that a range of them can have its own vector index. Existing chunks share the
 * number
 * 0. The indexes over all collections are dropped; dataprep builds the new ones when it starts, and searches are exact
 * until then.
 */
export const chunksInOrderOfArrival: StorageMigration = {
  name: '0012-chunks-in-order-of-arrival',
  up: (builder) => {
    builder.sql('CREATE SEQUENCE chunks_arrival');
    builder.sql('ALTER TABLE chunks ADD COLUMN arrival bigint NOT NULL DEFAULT 0');
    builder.sql(`ALTER TABLE chunks ALTER COLUMN arrival SET DEFAULT nextval('chunks_arrival')`);
    builder.sql('ALTER SEQUENCE chunks_arrival OWNED BY chunks.arrival');
    builder.sql('DROP INDEX chunks_collection');
    builder.sql('CREATE INDEX chunks_collection ON chunks (collection, arrival)');
    builder.sql(dropIndexesNamed('chunks\\_embedding\\_%'));
  },
  down: (builder) => {
    builder.sql(dropIndexesNamed('chunks\\_hnsw\\_%'));
    builder.sql('DROP INDEX chunks_collection');
    builder.sql('ALTER TABLE chunks DROP COLUMN arrival');
    builder.sql('CREATE INDEX chunks_collection ON chunks (collection)');
  },
};

function dropIndexesNamed(pattern: string): string {
  return `
    DO $$ DECLARE name text; BEGIN
      FOR name IN SELECT indexname FROM pg_indexes WHERE schemaname = current_schema() AND indexname LIKE '${pattern}'
      LOOP EXECUTE format('DROP INDEX %I', name); END LOOP;
    END $$`;
}
