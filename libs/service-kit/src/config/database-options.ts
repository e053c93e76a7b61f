import { createLogger } from '../logger.js';
import { databaseUrl, type BaseEnvironment, type databaseEnvironmentSchema } from './environment.js';
import type { z } from 'zod';

/** Connections of a process where nothing else is set. */
const usualConnections = 4;

/** How a service connects to Postgres; a connection that breaks is logged. Errors: names the missing variable. */
export function databaseOptions(
  service: string,
  environment: BaseEnvironment & z.infer<typeof databaseEnvironmentSchema>,
) {
  const logger = createLogger(service, environment.LOG_LEVEL);
  return {
    connectionString: databaseUrl(environment),
    maxConnections: environment.DATABASE_POOL_SIZE ?? usualConnections,
    onConnectionLost: (error: Error) =>
      logger.warn({ detail: error.message }, 'a connection to postgres broke'),
  };
}
