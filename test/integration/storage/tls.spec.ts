import { join } from 'node:path';
import { openDatabase } from '#platform/storage';
import {
  installedPrograms,
  nativePostgres,
  repositoryRoot,
  startNativePostgres,
  startPostgres,
  startService,
  type NativePostgres,
} from '#platform/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

/** The embedded Postgres has no TLS; machines without a native one skip this. */
const version = nativePostgres();

describe.skipIf(version === undefined)('Postgres over TLS, sslmode=verify-full', () => {
  let server: NativePostgres;
  beforeAll(async () => {
    server = await startNativePostgres(installedPrograms(version ?? ''));
  });
  afterAll(() => server?.stop());

  /** The server's URL with other settings; null takes one away. */
  const urlWith = (settings: Record<string, string | null>, host = '127.0.0.1') => {
    const url = new URL(server.url);
    url.hostname = host;
    for (const [name, value] of Object.entries(settings))
      if (value === null) url.searchParams.delete(name);
      else url.searchParams.set(name, value);
    return url.href;
  };

  async function isEncrypted(connectionString: string): Promise<boolean | undefined> {
    const database = openDatabase({ connectionString });
    try {
      const [row] = await database.transaction((transaction) =>
        transaction.query<{ ssl: boolean }>('SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()'),
      );
      return row?.ssl;
    } finally {
      await database.close();
    }
  }

  it('is encrypted where the certificate is right', async () => {
    expect(await isEncrypted(server.url)).toBe(true);
  });

  const otherAuthority = join(repositoryRoot, 'test/fixtures/tls/client.crt');
  it.each<[string, () => string, RegExp]>([
    ['an authority that is not the one given', () => urlWith({ sslrootcert: otherAuthority }), /certificate/],
    ['an authority that the system does not know', () => urlWith({ sslrootcert: null }), /certificate/],
    [
      'sslmode=require without that authority',
      () => urlWith({ sslrootcert: null, sslmode: 'require' }),
      /certificate/,
    ],
    ['another name than that of the certificate', () => urlWith({}, '127.0.0.2'), /127\.0\.0\.2.*cert/i],
  ])('refuses %s', async (_what, url, reason) => {
    await expect(isEncrypted(url())).rejects.toMatchObject({
      code: 'service_unavailable',
      message: expect.stringMatching(reason),
    });
  });

  it('ends the start of a service with the reason', async () => {
    const start = startService('retrieval', {
      DATABASE_URL: urlWith({ sslrootcert: otherAuthority }),
      NATS_URL: 'nats://127.0.0.1:1',
    });
    await expect(start).rejects.toThrow(/certificate/);
  });
});

it.skipIf(process.env.DATABASE_URL !== undefined)(
  'refuses a server without TLS where it was asked for',
  async () => {
    const postgres = await startPostgres();
    const database = openDatabase({ connectionString: `${postgres.connectionString}?sslmode=verify-full` });
    await expect(database.transaction(() => Promise.resolve())).rejects.toMatchObject({
      code: 'service_unavailable',
      message: expect.stringContaining('does not support SSL'),
    });
    await database.close();
    await postgres.stop();
  },
);
