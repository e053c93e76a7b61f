import { findProgramsWithVector, startNativePostgres } from '#platform/testing';

/** Native Postgres where one with pgvector is at hand: stacks that start meanwhile have a database of their own on it. Else the reason why not. */
export async function onNativePostgres<Value>(work: () => Promise<Value>): Promise<Value | string> {
  const found = findProgramsWithVector();
  if ('reason' in found) return found.reason;
  const postgres = await startNativePostgres(found.programs);
  process.env.DATABASE_URL = postgres.url;
  try {
    return await work();
  } finally {
    delete process.env.DATABASE_URL;
    await postgres.stop();
  }
}
