/**
 * Migrates the database at DATABASE_URL and exits. Run this job before the services of a new version start. Services
 * also migrate at their start, but the job shows a failed migration before a pod is replaced.
 */
import { openDatabase } from '#platform/storage';

const connectionString = process.env.DATABASE_URL ?? process.env.PG_CONNECTION_STRING ?? '';
if (connectionString === '') {
  console.error('DATABASE_URL is not set: set it to postgres://user:password@host:port/database');
  process.exit(1);
}
const database = openDatabase({ connectionString });
try {
  const applied = await database.migrate();
  console.log(
    applied.length === 0 ? 'The schema is up to date.' : applied.map((name) => `applied ${name}`).join('\n'),
  );
} catch (error) {
  console.error(`The migration failed: ${(error as Error).message}`);
  process.exitCode = 1;
} finally {
  await database.close();
}
