import { join } from 'node:path';
import { nativePostgres, programsWithVector, repositoryRoot, startNativePostgres } from '#platform/testing';

/**
 * Before `npm run test:cluster`: starts the native Postgres whose databases the tests use, over TLS with a checked certificate. The
 * rest of the cluster is libs/platform/testing's: NATS with users and TLS, two instances of each service, a balancer in front of them.
 */
export default async function setUpCluster(): Promise<() => Promise<void>> {
  const version = nativePostgres();
  if (version === undefined)
    throw new Error('test:cluster needs a native Postgres: apt-get install postgresql postgresql-contrib');
  const programs = await programsWithVector(version).catch((cause: unknown) => {
    throw new Error(`test:cluster: pgvector could not be built: ${(cause as Error).message}`, { cause });
  });
  const postgres = await startNativePostgres(programs);
  process.env.DATABASE_URL = postgres.url;
  // Test doubles inside the workers trust the authority of the NATS servers, too.
  process.env.NODE_EXTRA_CA_CERTS = join(repositoryRoot, 'test/fixtures/tls/ca.crt');
  console.log(
    `cluster: Postgres ${version} with pgvector over TLS; NATS with users and TLS; two of each service`,
  );
  return () => postgres.stop();
}
