import { createLogger, databaseUrl } from '#service-kit';
import { openDatabase, type Database } from '#storage';
import type { DataprepEnvironment } from './dataprep.environment.js';

/** Opens the database and brings its schema up to date. Errors: service_unavailable that names postgres. */
export async function openMigratedDatabase(environment: DataprepEnvironment): Promise<Database> {
  const logger = createLogger('dataprep', environment.LOG_LEVEL);
  const database = openDatabase({
    connectionString: databaseUrl(environment),
    onConnectionLost: (error) => logger.warn({ detail: error.message }, 'a connection to postgres broke'),
  });
  await database.migrate();
  return database;
}
