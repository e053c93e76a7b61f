import { findProgramsWithVector, startNativePostgres, type NativePostgres } from './native-postgres.js';
import { startPostgres } from './start-postgres.js';

/** A database for tests and benchmarks. */
export interface TestDatabase {
  url: string;
  /** The server, if it is a native one: only this one can be killed while its clients continue. */
  native?: NativePostgres;
  stop(): Promise<void>;
}

/**
 * Starts a native Postgres with these settings where it is installed with pgvector, else the embedded one, which has no
 * settings.
 */
export async function startDatabase(settings?: Record<string, string>): Promise<TestDatabase> {
  const found = findProgramsWithVector();
  if ('reason' in found) {
    const embedded = await startPostgres();
    return { url: embedded.connectionString, stop: () => embedded.stop() };
  }
  const native = await startNativePostgres(found.programs, settings);
  return { url: native.url, native, stop: () => native.stop() };
}
