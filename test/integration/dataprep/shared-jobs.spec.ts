import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { IngestJob } from '#platform/contracts';
import { openDatabase, type Database } from '#platform/storage';
import {
  startNats,
  startPostgres,
  startService,
  type TestNats,
  type TestPostgres,
  type TestService,
} from '#platform/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DataprepClient } from './dataprep-client.js';
import { startGatedEmbedder } from './gated-embedder.js';

/** Twice as many pages as one process works on at a time: their size is not known. */
const pages = 8;

describe('a job of several documents', () => {
  let nats: TestNats;
  let postgres: TestPostgres;
  let database: Database;
  let services: TestService[];
  let embedder: Awaited<ReturnType<typeof startGatedEmbedder>>;
  let site: Server;
  let origin = '';

  beforeAll(async () => {
    site = createServer((request, response) => {
      response.setHeader('content-type', 'text/plain').end(`This is the page ${request.url}.`);
    });
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
    origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
    [nats, postgres] = await Promise.all([startNats(), startPostgres()]);
    database = openDatabase({ connectionString: postgres.connectionString, maxConnections: 1 });
    embedder = await startGatedEmbedder(nats.url);
    const env = {
      NATS_URL: nats.url,
      DATABASE_URL: postgres.connectionString,
      ALLOW_PRIVATE_LINKS: 'true',
      JOB_ABANDONED_AFTER_MS: '3000',
    };
    services = await Promise.all([startService('dataprep', env), startService('dataprep', env)]);
  });

  afterAll(async () => {
    await database?.close();
    await Promise.all([...(services ?? []).map((service) => service.stop()), embedder?.stop()]);
    await Promise.all([nats?.stop(), postgres?.stop()]);
    site?.close();
  });

  const client = (index: number) => new DataprepClient(services[index]!.url);
  const start = async (collection: string) => {
    const links = Array.from({ length: pages }, (_unused, index) => `${origin}/${collection}/${index}`);
    const body = { link_list: JSON.stringify(links), collection, async: 'true' };
    const answer = await client(0).post<IngestJob>('/v1/dataprep/ingest', body);
    expect(answer.status).toBe(202);
    return { links, path: `/v1/dataprep/jobs/${answer.body.id}`, id: answer.body.id };
  };
  const read = async (path: string, index = 0) =>
    (await (await fetch(client(index).url + path)).json()) as IngestJob;
  const change = (path: string, index: number) => client(index).send<IngestJob>(path, { method: 'POST' });
  /** The numbers of documents of the processes that work on the job. */
  const shares = async (id: string) => {
    const rows = await database.query<{ documents: number }>(
      `SELECT count(*)::integer AS documents FROM ingest_job_documents
       WHERE job_id = $1 AND state = 'running' GROUP BY owner`,
      [id],
    );
    return rows.map(({ documents }) => documents);
  };
  const bothWork = async (id: string) => {
    await expect.poll(() => shares(id)).toEqual([pages / 2, pages / 2]);
  };

  it('is shared by all processes, pauses on all of them, and goes on', async () => {
    embedder.gate.shut();
    const { id, path, links } = await start('shared');
    await bothWork(id);
    expect((await change(`${path}/pause`, 1)).body).toMatchObject({ state: 'paused', finishedAt: null });
    await expect.poll(() => shares(id)).toEqual([]);
    await change(`${path}/resume`, 1);
    await bothWork(id);
    embedder.gate.open();
    const seen: number[] = [];
    await expect
      .poll(async () => {
        const { state, progress } = await read(path, 1);
        if (progress && state === 'running') seen.push(progress.completed);
        return state;
      })
      .toBe('succeeded');
    expect(seen).toEqual(seen.toSorted((one, other) => one - other));
    const { progress } = await read(path);
    expect(progress).toMatchObject({ stage: 'done', completed: pages, total: pages });
    expect(progress?.documents?.map(({ filename }) => filename)).toEqual(links);
    expect(await client(0).names('shared')).toEqual(links);
    for (const { url } of services) {
      const metrics = await (await fetch(`${url}/metrics`)).text();
      expect(metrics).toMatch(/duration_seconds_count{.*operation="ingest".*outcome="ok".*} 1\n/);
    }
  });

  it('loses and doubles nothing when one of them is killed, and sets a document aside that ended three', async () => {
    embedder.gate.shut();
    const { id, path, links } = await start('killed');
    await bothWork(id);
    await services.pop()!.kill();
    // As if its first document had ended two other processes before.
    const findPoison = () =>
      database.query<{ position: number }>(
        `UPDATE ingest_job_documents SET attempts = 3 WHERE job_id = $1 AND position =
           (SELECT min(position) FROM ingest_job_documents
            WHERE job_id = $1 AND renewed_at < now() - interval '3 seconds') RETURNING position`,
        [id],
      );
    const found: { position: number }[] = [];
    await expect.poll(async () => found.push(...(await findPoison())), { interval: 500 }).toBe(1);
    const { position } = found[0]!;
    embedder.gate.open();
    await expect.poll(async () => (await read(path)).state, { interval: 200 }).toBe('succeeded');
    const { progress } = await read(path);
    const message = expect.stringContaining('3 processes ended while they worked on') as unknown;
    const param = `link_list[${position}]`;
    expect(progress?.failed).toEqual([
      { filename: links[position], error: { code: 'service_unavailable', message, param } },
    ]);
    const others = links.filter((link) => link !== links[position]);
    expect(progress?.documents?.map(({ filename }) => filename)).toEqual(others);
    expect(await client(0).names('killed')).toEqual(others);
  });
});
