import type { MigrationBuilder } from 'node-pg-migrate';

/** One step of the schema's history. Its name is what the database remembers; never rename or change a shipped one. */
export interface StorageMigration {
  name: string;
  up: (builder: MigrationBuilder) => void;
  down: (builder: MigrationBuilder) => void;
}
