import type { MigrationBuilder } from 'node-pg-migrate';

/** One step of the schema's history. The database stores its name; never rename or change a released migration. */
export interface StorageMigration {
  name: string;
  up: (builder: MigrationBuilder) => void;
}
