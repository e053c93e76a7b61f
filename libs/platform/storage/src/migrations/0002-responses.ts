import type { StorageMigration } from './storage-migration.js';

/**
 * Responses with their items, event logs and leases, and conversations. Objects are `json`, not `jsonb`: they are read
 * as a whole, and keep the order of their fields.
 */
export const responses: StorageMigration = {
  name: '0002-responses',
  up: (builder) => {
    builder.sql(`
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
        UNIQUE (owner, idempotency_key)
      )`);
    builder.sql('CREATE INDEX responses_created ON responses (created_at)');
    builder.sql('CREATE INDEX responses_leases ON responses (lease_until) WHERE finished_at IS NULL');
    builder.sql(`
      CREATE TABLE response_items (
        response_id text NOT NULL REFERENCES responses (id) ON DELETE CASCADE,
        direction text NOT NULL CHECK (direction IN ('input', 'output')),
        position integer NOT NULL,
        owner text NOT NULL,
        id text NOT NULL,
        item json NOT NULL,
        PRIMARY KEY (response_id, direction, position)
      )`);
    builder.sql('CREATE INDEX response_items_id ON response_items (id, owner)');
    builder.sql(`
      CREATE TABLE response_events (
        response_id text NOT NULL REFERENCES responses (id) ON DELETE CASCADE,
        first_sequence integer NOT NULL,
        last_sequence integer NOT NULL,
        events json NOT NULL,
        PRIMARY KEY (response_id, first_sequence)
      )`);
    builder.sql(`
      CREATE TABLE conversations (
        id text PRIMARY KEY,
        owner text NOT NULL,
        metadata json NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now()
      )`);
    builder.sql(`
      CREATE TABLE conversation_items (
        conversation_id text NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
        position bigint GENERATED ALWAYS AS IDENTITY,
        owner text NOT NULL,
        id text NOT NULL,
        item json NOT NULL,
        PRIMARY KEY (conversation_id, id)
      )`);
    builder.sql('CREATE INDEX conversation_items_position ON conversation_items (conversation_id, position)');
    builder.sql('CREATE INDEX conversation_items_id ON conversation_items (id, owner)');
  },
  down: (builder) => {
    builder.sql('DROP TABLE conversation_items, conversations, response_events, response_items, responses');
  },
};
