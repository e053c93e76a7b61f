import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTemporaryDirectory, repositoryRoot } from '#platform/testing';

/** Runs a program of deploy; resolves with its exit code and its errors. */
function run(
  program: string,
  args: string[],
  env: NodeJS.ProcessEnv = {},
): Promise<{ code: number; stderr: string }> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [join(repositoryRoot, 'deploy', program), ...args],
      { env: { ...process.env, ...env } },
      (error, _stdout, stderr) => resolve({ code: error === null ? 0 : Number(error.code), stderr }),
    );
  });
}

describe('the health check of a container', () => {
  /** `fetch` refuses these ports, among them 6000 of the embedding service. */
  const refusedPorts = [6000, 10080, 6697, 6679, 6566, 5061, 5060];
  let server: Server;

  /** Listens on the first of the ports that is free. */
  async function listen(ports: number[], status: number): Promise<string> {
    for (const port of ports) {
      server = createServer((_request, response) => response.writeHead(status).end());
      server.listen(port, '127.0.0.1');
      const [error] = await Promise.race([
        once(server, 'listening').then(() => []),
        once(server, 'error').catch((reason: unknown) => [reason]),
      ]);
      if (error === undefined) return `http://127.0.0.1:${(server.address() as AddressInfo).port}/ready`;
    }
    throw new Error('all of these ports are in use');
  }

  afterEach(() => server.close());

  it('succeeds where the port answers 200, also on a port that fetch refuses', async () => {
    const url = await listen(refusedPorts, 200);
    await expect(fetch(url)).rejects.toMatchObject({ cause: { message: 'bad port' } });
    expect(await run('health.mjs', [url])).toMatchObject({ code: 0 });
  });

  it('fails for another status, and where the port does not answer', async () => {
    const url = await listen([0], 503);
    expect(await run('health.mjs', [url])).toMatchObject({ code: 1 });
    server.close();
    expect(await run('health.mjs', [url])).toMatchObject({ code: 1 });
  });
});

describe('the secrets of the containers', () => {
  let directory: { path: string; remove(): Promise<void> };
  const read = (path: string) => readFileSync(join(directory.path, path), 'utf8');
  const make = (env: NodeJS.ProcessEnv = {}) => run('secrets.mjs', [directory.path], env);

  beforeEach(async () => (directory = await createTemporaryDirectory()));
  afterEach(() => directory.remove());

  it('take the wanted password of the database at the first start', async () => {
    expect(await make({ POSTGRES_PASSWORD: 'pass/word' })).toMatchObject({ code: 0 });
    expect(read('postgres/password')).toBe('pass/word');
    expect(read('gateway/database-url')).toBe('postgres://meganest:pass%2Fword@postgres:5432/meganest');
  });

  it('stay as they are when the variable is the same or empty later', async () => {
    await make({ POSTGRES_PASSWORD: 'first' });
    const before = ['postgres/password', 'dataprep/database-url', 'nats/nats.conf'].map(read);
    for (const env of [{ POSTGRES_PASSWORD: 'first' }, { POSTGRES_PASSWORD: '' }]) {
      expect(await make(env)).toMatchObject({ code: 0 });
      expect(['postgres/password', 'dataprep/database-url', 'nats/nats.conf'].map(read)).toEqual(before);
    }
  });

  it('refuse another password for a database that exists, and say what to do', async () => {
    for (const first of ['', 'first']) {
      await make({ POSTGRES_PASSWORD: first });
      const before = read('postgres/password');
      const { code, stderr } = await make({ POSTGRES_PASSWORD: 'second' });
      expect(code).toBe(1);
      expect(stderr).toMatch(/POSTGRES_PASSWORD is not the password .*operations\.md/);
      expect(read('postgres/password')).toBe(before);
      expect(read('retrieval/database-url')).not.toContain('second');
    }
  });
});
