import type { MigrationBuilder } from 'node-pg-migrate';
import type { StorageMigration } from './storage-migration.js';

/**
 * Files in pieces, uploads in parts, and vector stores with their attached files. A part of an upload is a hidden file;
 * completing the upload moves its pieces to a new file without writing them again.
 */
export const filesAndVectorStores: StorageMigration = {
  name: '0005-files-and-vector-stores',
  up: (builder) => {
    createFiles(builder);
    createVectorStores(builder);
    createAttachedFiles(builder);
  },
  down: (builder) => {
    builder.sql(
      'DROP TABLE vector_store_files, vector_store_batches, vector_stores, file_pieces, files, uploads',
    );
  },
};

function createFiles(builder: MigrationBuilder): void {
  builder.sql(`
      CREATE TABLE uploads (
        id text PRIMARY KEY,
        owner text NOT NULL,
        filename text NOT NULL,
        purpose text NOT NULL,
        mime_type text NOT NULL,
        bytes bigint NOT NULL,
        status text NOT NULL CHECK (status IN ('pending', 'completed', 'cancelled')),
        file_id text,
        file_expires_seconds integer,
        created_at timestamptz NOT NULL DEFAULT now(),
        expires_at timestamptz NOT NULL
      )`);
  builder.sql(`
      CREATE TABLE files (
        id text PRIMARY KEY,
        position bigint GENERATED ALWAYS AS IDENTITY,
        owner text NOT NULL,
        upload_id text REFERENCES uploads (id) ON DELETE CASCADE,
        filename text NOT NULL,
        purpose text NOT NULL,
        mime_type text NOT NULL,
        bytes bigint NOT NULL DEFAULT 0,
        pending_since timestamptz,
        created_at timestamptz NOT NULL DEFAULT now(),
        expires_at timestamptz
      )`);
  builder.sql('CREATE INDEX files_position ON files (owner, position)');
  builder.sql('CREATE INDEX files_expiry ON files (expires_at) WHERE expires_at IS NOT NULL');
  builder.sql('CREATE INDEX files_pending ON files (pending_since) WHERE pending_since IS NOT NULL');
  builder.sql('CREATE INDEX files_upload ON files (upload_id) WHERE upload_id IS NOT NULL');
  builder.sql(`
      CREATE TABLE file_pieces (
        file_id text NOT NULL REFERENCES files (id) ON DELETE CASCADE,
        start bigint NOT NULL,
        content bytea NOT NULL,
        PRIMARY KEY (file_id, start)
      )`);
  // Documents are mostly compressed by themselves; compressing pieces again costs time and saves nothing.
  builder.sql('ALTER TABLE file_pieces ALTER COLUMN content SET STORAGE EXTERNAL');
}

function createVectorStores(builder: MigrationBuilder): void {
  builder.sql(`
      CREATE TABLE vector_stores (
        id text PRIMARY KEY,
        position bigint GENERATED ALWAYS AS IDENTITY,
        owner text NOT NULL,
        name text NOT NULL,
        description text,
        metadata json NOT NULL,
        expires_days integer,
        created_at timestamptz NOT NULL DEFAULT now(),
        last_active_at timestamptz NOT NULL DEFAULT now()
      )`);
  builder.sql('CREATE INDEX vector_stores_position ON vector_stores (owner, position)');
  builder.sql('CREATE INDEX vector_stores_expiry ON vector_stores (id) WHERE expires_days IS NOT NULL');
  builder.sql(`
      CREATE TABLE vector_store_batches (
        id text PRIMARY KEY,
        vector_store_id text NOT NULL REFERENCES vector_stores (id) ON DELETE CASCADE,
        cancelled boolean NOT NULL DEFAULT false,
        created_at timestamptz NOT NULL DEFAULT now()
      )`);
  builder.sql('CREATE INDEX vector_store_batches_store ON vector_store_batches (vector_store_id)');
}

function createAttachedFiles(builder: MigrationBuilder): void {
  builder.sql(`
      CREATE TABLE vector_store_files (
        vector_store_id text NOT NULL REFERENCES vector_stores (id) ON DELETE CASCADE,
        file_id text NOT NULL REFERENCES files (id) ON DELETE CASCADE,
        position bigint GENERATED ALWAYS AS IDENTITY,
        batch_id text REFERENCES vector_store_batches (id) ON DELETE SET NULL,
        status text NOT NULL CHECK (status IN ('in_progress', 'completed', 'failed', 'cancelled')),
        attributes jsonb NOT NULL,
        chunk_tokens integer NOT NULL,
        overlap_tokens integer NOT NULL,
        document_id uuid,
        usage_bytes bigint NOT NULL DEFAULT 0,
        error_code text,
        error_message text,
        attempts integer NOT NULL DEFAULT 0,
        lease_owner text,
        lease_until timestamptz NOT NULL DEFAULT now(),
        created_at timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (vector_store_id, file_id)
      )`);
  builder.sql('CREATE INDEX vector_store_files_position ON vector_store_files (vector_store_id, position)');
  builder.sql('CREATE INDEX vector_store_files_file ON vector_store_files (file_id)');
  builder.sql('CREATE INDEX vector_store_files_batch ON vector_store_files (batch_id, position)');
  builder.sql(
    `CREATE INDEX vector_store_files_work ON vector_store_files (lease_until) WHERE status = 'in_progress'`,
  );
}
