import type { StorageMigration } from './storage-migration.js';

/** The bytes of each stored object, for the limits per owner, and the time of a conversation's last change. */
export const bytesOfOwners: StorageMigration = {
  name: '0011-bytes-of-owners',
  up: (builder) => {
    builder.sql('ALTER TABLE responses ADD COLUMN bytes bigint NOT NULL DEFAULT 0');
    builder.sql(`
      UPDATE responses SET bytes = octet_length(snapshot::text)
        + (SELECT coalesce(sum(octet_length(item::text)), 0) FROM response_items WHERE response_id = responses.id)
        + (SELECT coalesce(sum(octet_length(events::text)), 0) FROM response_events WHERE response_id = responses.id)`);
    builder.sql('ALTER TABLE stored_completions ADD COLUMN bytes bigint NOT NULL DEFAULT 0');
    builder.sql(
      'UPDATE stored_completions SET bytes = octet_length(completion::text) + octet_length(messages::text)',
    );
    builder.sql(`
      ALTER TABLE conversations ADD COLUMN bytes bigint NOT NULL DEFAULT 0,
        ADD COLUMN updated_at timestamptz NOT NULL DEFAULT now()`);
    builder.sql(`
      UPDATE conversations SET bytes =
        (SELECT coalesce(sum(octet_length(item::text)), 0) FROM conversation_items WHERE conversation_id = conversations.id)`);
    builder.sql('ALTER TABLE user_records ADD COLUMN bytes bigint NOT NULL DEFAULT 0');
    builder.sql('UPDATE user_records SET bytes = octet_length(data::text)');
    builder.sql('ALTER TABLE documents ADD COLUMN stored_bytes bigint NOT NULL DEFAULT 0');
    builder.sql(`
      UPDATE documents SET stored_bytes =
        (SELECT coalesce(sum(octet_length(text) + 4 * documents.embedding_dimensions), 0) FROM chunks
         WHERE document_id = documents.id)`);
  },
  down: (builder) => {
    builder.sql('ALTER TABLE documents DROP COLUMN stored_bytes');
    builder.sql('ALTER TABLE user_records DROP COLUMN bytes');
    builder.sql('ALTER TABLE conversations DROP COLUMN bytes, DROP COLUMN updated_at');
    builder.sql('ALTER TABLE stored_completions DROP COLUMN bytes');
    builder.sql('ALTER TABLE responses DROP COLUMN bytes');
  },
};
