import type { StorageMigration } from './storage-migration.js';

/** Punctuation that would join words (`/v1/list_service`, `Node.js`); it is replaced by spaces. */
const separators = String.raw`!"#$%&()*+,-./:;<=>?@[\]^_{|}~` + '`';

/** Documents, their chunks with vector and full text, and the state of ingestion jobs. */
export const documentsChunksJobs: StorageMigration = {
  name: '0001-documents-chunks-jobs',
  up: (builder) => {
    builder.sql(`
      CREATE TABLE documents (
        id uuid PRIMARY KEY,
        collection text NOT NULL,
        filename text NOT NULL,
        source text,
        content_hash text NOT NULL,
        mime_type text NOT NULL,
        bytes bigint NOT NULL,
        metadata jsonb NOT NULL DEFAULT '{}',
        embedding_model text NOT NULL,
        embedding_dimensions integer NOT NULL,
        chunk_count integer NOT NULL DEFAULT 0,
        lexeme_count bigint NOT NULL DEFAULT 0,
        created_at timestamptz NOT NULL DEFAULT now(),
        UNIQUE (collection, filename)
      )`);
    builder.sql(`
      CREATE FUNCTION search_vector(content text) RETURNS tsvector LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN
        to_tsvector('english'::regconfig, translate(content, '${separators}', repeat(' ', ${separators.length})))`);
    builder.sql(`
      CREATE TABLE chunks (
        id uuid PRIMARY KEY,
        document_id uuid NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
        collection text NOT NULL,
        position integer NOT NULL,
        text text NOT NULL,
        metadata jsonb NOT NULL DEFAULT '{}',
        embedding vector NOT NULL,
        search tsvector NOT NULL GENERATED ALWAYS AS (search_vector(
          coalesce(metadata->>'title', '') || ' ' || coalesce(metadata->>'heading', '') || ' ' || text
        )) STORED,
        UNIQUE (document_id, position)
      )`);
    builder.sql('CREATE INDEX chunks_search ON chunks USING gin (search)');
    builder.sql('CREATE INDEX chunks_metadata ON chunks USING gin (metadata jsonb_path_ops)');
    builder.sql('CREATE INDEX chunks_collection ON chunks (collection)');
    builder.sql(`
      CREATE TABLE ingest_jobs (
        id uuid PRIMARY KEY,
        state text NOT NULL CHECK (state IN ('queued', 'running', 'succeeded', 'failed', 'cancelled')),
        progress jsonb NOT NULL DEFAULT '{}',
        error jsonb,
        created_at timestamptz NOT NULL DEFAULT now(),
        updated_at timestamptz NOT NULL DEFAULT now(),
        finished_at timestamptz
      )`);
    builder.sql('CREATE INDEX ingest_jobs_state ON ingest_jobs (state, updated_at)');
  },
  down: (builder) => {
    builder.sql('DROP TABLE ingest_jobs, chunks, documents; DROP FUNCTION search_vector(text)');
  },
};
