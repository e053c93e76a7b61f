import type { StorageMigration } from './storage-migration.js';

/** Punctuation that would join words (`/v1/list_service`, `Node.js`); it is replaced by spaces. */
const separators = String.raw`!"#$%&()*+,-./:;<=>?@[\]^_{|}~` + '`';

/**
 * Documents and their chunks. A large document is written in several transactions; until the last one it is pending and
 * not visible. Documents and chunks of a vector store have its owner; all others have null. Searches, lists and
 * deletions check that column, so that the name of a collection alone does not give access.
 */
const documents = `
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
    pending_since timestamptz,
    owner text,
    stored_bytes bigint NOT NULL DEFAULT 0,
    -- What was read of the document, and what was not.
    reading jsonb NOT NULL DEFAULT '{}'
  );
  CREATE UNIQUE INDEX documents_name ON documents (collection, filename, coalesce(owner, ''))
    WHERE pending_since IS NULL;
  CREATE INDEX documents_pending ON documents (id) WHERE pending_since IS NOT NULL;
  -- Each search asks whether its collection has vectors of another embedding model.
  CREATE INDEX documents_models ON documents (collection, embedding_model)
    WHERE pending_since IS NULL AND chunk_count > 0;

  CREATE FUNCTION search_vector(content text) RETURNS tsvector LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN
    to_tsvector('english'::regconfig, translate(content, '${separators}', repeat(' ', ${separators.length})));

  -- Chunks are numbered as they arrive, so that a range of them can have its own vector index.
  CREATE SEQUENCE chunks_arrival;
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
    owner text,
    arrival bigint NOT NULL DEFAULT nextval('chunks_arrival'),
    UNIQUE (document_id, position)
  );
  ALTER SEQUENCE chunks_arrival OWNED BY chunks.arrival;
  -- Rows up to a page keep their vector and their words in the row instead of the TOAST table: from there, comparing
  -- chunks one by one took twice as long, and ranking them by words 1.5 times as long.
  ALTER TABLE chunks SET (toast_tuple_target = 8160);
  CREATE INDEX chunks_search ON chunks USING gin (search);
  CREATE INDEX chunks_metadata ON chunks USING gin (metadata jsonb_path_ops);
  CREATE INDEX chunks_collection ON chunks (collection, arrival);

  -- The number of chunks of a large collection with each word, counted in the background. A search uses it to find the
  -- rare words of a query without reading the chunks with the common ones.
  CREATE TABLE word_counts (
    collection text PRIMARY KEY,
    counted_to bigint NOT NULL,
    chunks bigint NOT NULL,
    lexemes bigint NOT NULL
  );
  CREATE TABLE counted_words (
    collection text NOT NULL REFERENCES word_counts (collection) ON DELETE CASCADE,
    lexeme text NOT NULL,
    chunks bigint NOT NULL,
    PRIMARY KEY (collection, lexeme)
  )`;

/** Ingest jobs. Each document of a job has a row, so that several processes share the job. */
const jobs = `
  CREATE TABLE ingest_jobs (
    id uuid PRIMARY KEY,
    state text NOT NULL CHECK (state IN ('queued', 'running', 'paused', 'succeeded', 'failed', 'cancelled')),
    progress jsonb NOT NULL DEFAULT '{}',
    error jsonb,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    finished_at timestamptz,
    -- Another process continues the job from it after the first one has died.
    request jsonb NOT NULL,
    attempts integer NOT NULL DEFAULT 1,
    -- Increases with each new owner: a process with an older number has lost the job.
    epoch integer NOT NULL DEFAULT 0,
    documents integer NOT NULL,
    ended_documents integer NOT NULL DEFAULT 0,
    -- Each client has a share of the queue.
    client text NOT NULL DEFAULT ''
  );
  CREATE INDEX ingest_jobs_state ON ingest_jobs (state, updated_at);
  CREATE INDEX ingest_jobs_unfinished ON ingest_jobs (updated_at) WHERE finished_at IS NULL;
  CREATE INDEX ingest_jobs_finished ON ingest_jobs (finished_at) WHERE finished_at IS NOT NULL;
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
  );
  CREATE INDEX ingest_job_documents_open ON ingest_job_documents (job_id, position) WHERE state <> 'ended'`;

/**
 * Responses with their items, event logs and leases; conversations; stored completions; records that applications keep
 * for their users (chat histories, feedback, prompts). Objects are `json`, not `jsonb`, where they are read as a whole
 * and keep the order of their fields. `bytes` counts towards the limits of an owner.
 */
const answers = `
  CREATE TABLE responses (
    id text PRIMARY KEY,
    owner text NOT NULL,
    previous_response_id text,
    conversation_id text,
    status text NOT NULL,
    background boolean NOT NULL,
    snapshot json NOT NULL,
    request json,
    idempotency_key text,
    fingerprint text,
    lease_owner text,
    lease_until timestamptz,
    cancel_requested boolean NOT NULL DEFAULT false,
    created_at timestamptz NOT NULL DEFAULT now(),
    finished_at timestamptz,
    bytes bigint NOT NULL DEFAULT 0,
    UNIQUE (owner, idempotency_key)
  );
  CREATE INDEX responses_created ON responses (created_at);
  CREATE INDEX responses_leases ON responses (lease_until) WHERE finished_at IS NULL;
  CREATE TABLE response_items (
    response_id text NOT NULL REFERENCES responses (id) ON DELETE CASCADE,
    direction text NOT NULL CHECK (direction IN ('input', 'output')),
    position integer NOT NULL,
    owner text NOT NULL,
    id text NOT NULL,
    item json NOT NULL,
    PRIMARY KEY (response_id, direction, position)
  );
  CREATE INDEX response_items_id ON response_items (id, owner);
  CREATE TABLE response_events (
    response_id text NOT NULL REFERENCES responses (id) ON DELETE CASCADE,
    first_sequence integer NOT NULL,
    last_sequence integer NOT NULL,
    events json NOT NULL,
    PRIMARY KEY (response_id, first_sequence)
  );

  CREATE TABLE conversations (
    id text PRIMARY KEY,
    owner text NOT NULL,
    metadata json NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    bytes bigint NOT NULL DEFAULT 0,
    updated_at timestamptz NOT NULL DEFAULT now()
  );
  CREATE INDEX conversations_user ON conversations (owner, (metadata ->> 'user'), created_at DESC);
  CREATE TABLE conversation_items (
    conversation_id text NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    position bigint GENERATED ALWAYS AS IDENTITY,
    owner text NOT NULL,
    id text NOT NULL,
    item json NOT NULL,
    PRIMARY KEY (conversation_id, id)
  );
  CREATE INDEX conversation_items_position ON conversation_items (conversation_id, position);
  CREATE INDEX conversation_items_id ON conversation_items (id, owner);

  CREATE TABLE stored_completions (
    id text PRIMARY KEY,
    position bigint GENERATED ALWAYS AS IDENTITY,
    owner text NOT NULL,
    model text NOT NULL,
    completion json NOT NULL,
    messages json NOT NULL,
    metadata jsonb NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    bytes bigint NOT NULL DEFAULT 0
  );
  CREATE INDEX stored_completions_position ON stored_completions (owner, position);

  CREATE TABLE user_records (
    id text PRIMARY KEY,
    kind text NOT NULL,
    owner text NOT NULL,
    user_name text NOT NULL,
    data jsonb NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    bytes bigint NOT NULL DEFAULT 0
  );
  CREATE INDEX user_records_list ON user_records (owner, kind, user_name, created_at DESC, id DESC)`;

/**
 * Files in pieces, uploads in parts, and vector stores with their attached files. A part of an upload is a hidden file;
 * completing the upload moves its pieces to a new file without writing them again.
 */
const files = `
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
  );
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
    expires_at timestamptz,
    -- A file counts against its owner's quota from its first byte on, not only when it is complete.
    writing bigint NOT NULL DEFAULT 0
  );
  CREATE INDEX files_position ON files (owner, position);
  CREATE INDEX files_expiry ON files (expires_at) WHERE expires_at IS NOT NULL;
  CREATE INDEX files_pending ON files (pending_since) WHERE pending_since IS NOT NULL;
  CREATE INDEX files_upload ON files (upload_id) WHERE upload_id IS NOT NULL;
  CREATE TABLE file_pieces (
    file_id text NOT NULL REFERENCES files (id) ON DELETE CASCADE,
    start bigint NOT NULL,
    content bytea NOT NULL,
    PRIMARY KEY (file_id, start)
  );
  -- Documents are mostly compressed by themselves; compressing pieces again costs time and saves nothing.
  ALTER TABLE file_pieces ALTER COLUMN content SET STORAGE EXTERNAL;

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
  );
  CREATE INDEX vector_stores_position ON vector_stores (owner, position);
  CREATE INDEX vector_stores_expiry ON vector_stores (id) WHERE expires_days IS NOT NULL;
  CREATE TABLE vector_store_batches (
    id text PRIMARY KEY,
    vector_store_id text NOT NULL REFERENCES vector_stores (id) ON DELETE CASCADE,
    cancelled boolean NOT NULL DEFAULT false,
    created_at timestamptz NOT NULL DEFAULT now()
  );
  CREATE INDEX vector_store_batches_store ON vector_store_batches (vector_store_id);
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
  );
  CREATE INDEX vector_store_files_position ON vector_store_files (vector_store_id, position);
  CREATE INDEX vector_store_files_file ON vector_store_files (file_id);
  CREATE INDEX vector_store_files_batch ON vector_store_files (batch_id, position);
  CREATE INDEX vector_store_files_work ON vector_store_files (lease_until) WHERE status = 'in_progress'`;

/** State that the gateways of an installation share. A crash may lose what is unlogged. */
const shared = `
  CREATE TABLE secrets (
    name text PRIMARY KEY,
    value bytea NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
  );
  -- Counts of rate limits; each covers one minute.
  CREATE UNLOGGED TABLE rate_counts (
    key text PRIMARY KEY,
    count integer NOT NULL,
    ends_at timestamptz NOT NULL
  );
  -- Answers of chats by their Idempotency-Key.
  CREATE TABLE idempotent_answers (
    owner text NOT NULL,
    key text NOT NULL,
    fingerprint text NOT NULL,
    lease_owner text NOT NULL,
    lease_until timestamptz NOT NULL,
    answer jsonb,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (owner, key)
  );
  CREATE INDEX idempotent_answers_age ON idempotent_answers (created_at);
  -- The passages that answers cite, for the searches of later turns.
  CREATE UNLOGGED TABLE cited_passages (
    key text PRIMARY KEY,
    passages jsonb NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
  );
  CREATE INDEX cited_passages_age ON cited_passages (created_at)`;

/** The schema in one place. Changes since are migrations of their own, so that databases in use go on. */
export const schema: StorageMigration = {
  name: '0001-schema',
  up: (builder) => {
    for (const part of [documents, jobs, answers, files, shared]) builder.sql(part);
  },
};
