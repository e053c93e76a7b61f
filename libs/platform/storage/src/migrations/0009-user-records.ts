import type { StorageMigration } from './storage-migration.js';

/** Records that applications keep for their users: chat histories, feedback, prompts. */
export const userRecords: StorageMigration = {
  name: '0009-user-records',
  up: (builder) => {
    builder.sql(`
      CREATE TABLE user_records (
        id text PRIMARY KEY,
        kind text NOT NULL,
        owner text NOT NULL,
        user_name text NOT NULL,
        data jsonb NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now(),
        updated_at timestamptz NOT NULL DEFAULT now()
      )`);
    builder.sql(
      'CREATE INDEX user_records_list ON user_records (owner, kind, user_name, created_at DESC, id DESC)',
    );
    builder.sql(
      `CREATE INDEX conversations_user ON conversations (owner, (metadata ->> 'user'), created_at DESC)`,
    );
  },
  down: (builder) => {
    builder.sql('DROP INDEX conversations_user');
    builder.sql('DROP TABLE user_records');
  },
};
