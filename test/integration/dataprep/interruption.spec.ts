import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ingest } from '#platform/contracts';
import { MessagingConnection, ObjectStore, RpcClient } from '#platform/messaging';
import {
  startNats,
  startPostgres,
  startService,
  type TestNats,
  type TestPostgres,
  type TestService,
} from '#platform/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { DataprepClient, formOf } from './dataprep-client.js';
import { startGatedEmbedder, type Gate } from './gated-embedder.js';

/** More than one batch of passages. */
const longText = Array.from(
  { length: 300 },
  (_unused, index) => `Fact ${index} is that it has number ${index}.`,
).join(' ');

describe('an ingest that is interrupted', () => {
  let nats: TestNats;
  let postgres: TestPostgres;
  let service: TestService;
  let embedder: Awaited<ReturnType<typeof startGatedEmbedder>>;
  let gate: Gate;
  let connection: MessagingConnection;
  let env: Record<string, string>;
  let client: DataprepClient;

  beforeAll(async () => {
    [nats, postgres] = await Promise.all([startNats(), startPostgres()]);
    env = {
      NATS_URL: nats.url,
      DATABASE_URL: postgres.connectionString,
      ALLOW_PRIVATE_LINKS: 'true',
      JOB_ABANDONED_AFTER_MS: '3000',
      UPLOAD_FILE_LIMIT_BYTES: '200000',
      UPLOAD_LIMIT_BYTES: '300000',
      UPLOAD_FILES_LIMIT: '3',
    };
    embedder = await startGatedEmbedder(nats.url);
    gate = embedder.gate;
    service = await startService('dataprep', env);
    client = new DataprepClient(service.url);
    connection = await MessagingConnection.open({ url: nats.url, name: 'test' });
  });

  afterEach(() => gate.open());

  afterAll(async () => {
    await connection?.close();
    await service?.stop();
    await embedder?.stop();
    await Promise.all([nats?.stop(), postgres?.stop()]);
  });

  const fields = (collection: string) => ({ collection, chunk_size: '20' });

  it('leaves nothing half when its client goes away', async () => {
    gate.shut();
    const { requests, abandoned } = gate;
    const abort = new AbortController();
    const body = formOf([['left.txt', longText]], fields('left'));
    const sent = fetch(`${client.url}/v1/dataprep/ingest`, { method: 'POST', body, signal: abort.signal });
    await gate.until(() => gate.requests > requests);
    abort.abort();
    await expect(sent).rejects.toThrow('aborted');
    await gate.until(() => gate.abandoned > abandoned);
    expect(await client.names('left')).toEqual([]);
  });

  it('keeps the old version when a replacement is cancelled over NATS', async () => {
    await client.ingest([['kept.txt', 'The old version.']], { collection: 'kept' });
    gate.shut();
    const { requests, abandoned } = gate;
    const file = await new ObjectStore(connection).put(Buffer.from(longText), {
      filename: 'kept.txt',
      mimeType: '',
    });
    const rpc = new RpcClient(connection);
    const abort = new AbortController();
    const request = { files: [file], collection: 'kept', chunk_size: 20 };
    const seen: string[] = [];
    const consume = async () => {
      for await (const { stage } of rpc.stream(ingest, request, { signal: abort.signal })) {
        seen.push(stage);
        if (stage !== 'embedding') continue;
        await gate.until(() => gate.requests > requests);
        abort.abort();
      }
    };
    const consumed = consume();
    await expect(consumed).rejects.toMatchObject({ code: 'cancelled' });
    await gate.until(() => gate.abandoned > abandoned);
    expect(seen).toEqual(['reading', 'chunking', 'embedding']);
    const listed = await client.post<{ chunks: number }[]>('/v1/dataprep/get', { collection: 'kept' });
    expect(listed.body).toMatchObject([{ name: 'kept.txt', chunks: 1 }]);
    rpc.close();
  });

  it('sends the result alone to a caller that shows no progress', async () => {
    const objects = new ObjectStore(connection);
    const rpc = new RpcClient(connection);
    const stagesOf = async (name: string, progressEveryMs?: number) => {
      const file = await objects.put(Buffer.from('A short text.'), { filename: name, mimeType: '' });
      const request = { files: [file], collection: 'few', ...(progressEveryMs && { progressEveryMs }) };
      const stages: string[] = [];
      for await (const { stage } of rpc.stream(ingest, request)) stages.push(stage);
      return stages;
    };
    expect((await stagesOf('all.txt')).length).toBeGreaterThan(4);
    expect(await stagesOf('few.txt', 10_000)).toEqual(['done']);
    rpc.close();
  });

  it('leaves nothing half when the service is killed, and another instance goes on with the job', async () => {
    gate.shut();
    const { requests } = gate;
    const second = await startService('dataprep', env);
    const other = new DataprepClient(second.url);
    const body = formOf([['killed.txt', longText]], { ...fields('killed'), async: 'true' });
    const { body: job } = await other.send<{ id: string }>('/v1/dataprep/ingest', { body });
    await gate.until(() => gate.requests > requests);
    await second.kill();
    expect(await client.names('killed')).toEqual([]);
    const state = async () => {
      const response = await fetch(`${client.url}/v1/dataprep/jobs/${job.id}`);
      return ((await response.json()) as { state: string }).state;
    };
    gate.open();
    await expect.poll(state, { interval: 500 }).toBe('succeeded');
    expect(await client.names('killed')).toEqual(['killed.txt']);
  });

  it('answers with the result of a short ingest, and with the job of a long one, where the client allows both', async () => {
    const send = (name: string, text: string, wait: number) =>
      fetch(`${client.url}/v1/dataprep/ingest`, {
        method: 'POST',
        headers: { prefer: `respond-async, wait=${wait}` },
        body: formOf([[name, text]], fields('preferred')),
      });
    const short = await send('short.txt', 'A short text.', 30);
    expect(short.status).toBe(200);
    expect(await short.json()).toMatchObject({ documents: [{ filename: 'short.txt', outcome: 'added' }] });
    const empty = await send('empty.txt', ' ', 30);
    expect(empty.status).toBe(400);
    gate.shut();
    const long = await send('long.txt', longText, 1);
    expect([long.status, long.headers.get('preference-applied')]).toEqual([202, 'respond-async']);
    gate.open();
    const state = async () =>
      ((await (await fetch(client.url + long.headers.get('location'))).json()) as { state: string }).state;
    await expect.poll(state, { interval: 200 }).toBe('succeeded');
    expect(await client.names('preferred')).toEqual(['long.txt', 'short.txt']);
  });

  it('answers with a job where the progress stops, and the job stores everything', async () => {
    const hasty = await startService('dataprep', { ...env, REQUEST_TIMEOUT_MS: '1000' });
    try {
      gate.shut();
      const response = await fetch(`${hasty.url}/v1/dataprep/ingest`, {
        method: 'POST',
        body: formOf([['stalled.txt', longText]], fields('stalled')),
      });
      const { id } = (await response.json()) as { id: string };
      expect(response.status).toBe(202);
      expect(response.headers.get('location')).toBe(`/v1/dataprep/jobs/${id}`);
      gate.open();
      const state = async () =>
        ((await (await fetch(`${hasty.url}/v1/dataprep/jobs/${id}`)).json()) as { state: string }).state;
      await expect.poll(state, { timeout: 20_000 }).toBe('succeeded');
      expect(await client.names('stalled')).toEqual(['stalled.txt']);
    } finally {
      gate.open();
      await hasty.stop();
    }
  });

  it('cancels a job', async () => {
    gate.shut();
    const { requests, abandoned } = gate;
    const body = formOf([['job.txt', longText]], { ...fields('job'), async: 'true' });
    const { body: job } = await client.send<{ id: string }>('/v1/dataprep/ingest', { body });
    await gate.until(() => gate.requests > requests);
    const cancelled = await client.send(`/v1/dataprep/jobs/${job.id}`, { method: 'DELETE' });
    expect(cancelled.body).toMatchObject({ state: 'cancelled', error: { code: 'cancelled' } });
    await gate.until(() => gate.abandoned > abandoned);
    expect(await client.names('job')).toEqual([]);
  });

  it('pauses a job, also one of another instance, and goes on with it where it is told to', async () => {
    const small = Array.from({ length: 2 }, (_unused, index): [string, string] => [
      `small ${index}.txt`,
      `A small text, number ${index}.`,
    ]);
    await client.ingest(small, fields('paused'));
    gate.shut();
    const { requests, abandoned } = gate;
    const second = await startService('dataprep', env);
    const other = new DataprepClient(second.url);
    const body = formOf([...small, ['paused.txt', longText]], { ...fields('paused'), async: 'true' });
    const { body: job } = await client.send<{ id: string }>('/v1/dataprep/ingest', { body });
    const change = async (at: DataprepClient, what: string) =>
      (await at.send<{ state: string }>(`/v1/dataprep/jobs/${job.id}/${what}`, { method: 'POST' })).body;
    await gate.until(() => gate.requests > requests);
    // Its process hears of it with its next report, within a second.
    expect(await change(other, 'pause')).toMatchObject({ state: 'paused', finishedAt: null });
    await gate.until(() => gate.abandoned > abandoned);
    expect((await client.names('paused')).toSorted()).toEqual(['small 0.txt', 'small 1.txt']);
    expect(await change(other, 'resume')).toMatchObject({ error: null });
    await gate.until(() => gate.requests > requests + 1);
    expect(await change(other, 'pause')).toMatchObject({ state: 'paused' });
    gate.open();
    expect(await change(client, 'resume')).toMatchObject({ error: null });
    const state = async () => {
      const response = await fetch(`${other.url}/v1/dataprep/jobs/${job.id}`);
      return ((await response.json()) as { state: string }).state;
    };
    await expect.poll(state, { interval: 200 }).toBe('succeeded');
    expect(await client.names('paused')).toContain('paused.txt');
    // An ended job stays as it is.
    expect(await change(client, 'pause')).toMatchObject({ state: 'succeeded' });
    expect(await change(client, 'resume')).toMatchObject({ state: 'succeeded' });
    const unknown = '/v1/dataprep/jobs/00000000-0000-4000-8000-000000000000/pause';
    expect((await client.send(unknown, { method: 'POST' })).status).toBe(404);
    await second.stop();
  });

  it('stores a large text that it reads in sections: whole, once, and nothing of one that is cancelled', async () => {
    const limits = { UPLOAD_FILE_LIMIT_BYTES: '20000000', UPLOAD_LIMIT_BYTES: '20000000' };
    const second = await startService('dataprep', { ...env, ...limits });
    const other = new DataprepClient(second.url);
    // Long words make few passages of many bytes.
    const word = (index: number) => `${'x'.repeat(190)}${index}`;
    const text = Array.from({ length: 45_000 }, (_unused, index) => word(index)).join(' ');
    const send = (content: string) =>
      other.ingest([['large.txt', content]], { collection: 'sections', chunk_size: '500' });
    const { body } = await send(text);
    expect(body.documents).toMatchObject([{ outcome: 'added' }]);
    const { documentId, chunks } = body.documents[0]!;
    expect(chunks).toBeGreaterThan(90);
    const part = async (from: number) => {
      const response = await fetch(
        `${other.url}/v1/dataprep/documents/${documentId}/chunks?from=${from}&limit=1`,
      );
      return ((await response.json()) as { chunks: { text: string; index: number }[] }).chunks[0]!;
    };
    expect((await part(0)).text.startsWith(word(0))).toBe(true);
    expect((await part(chunks - 1)).text.endsWith(word(44_999))).toBe(true);
    expect((await part(chunks - 1)).index).toBe(chunks - 1);
    expect((await send(text)).body.documents).toMatchObject([{ outcome: 'unchanged', documentId }]);
    gate.shut();
    const { requests } = gate;
    const form = formOf([['large.txt', `${text} more`]], { collection: 'sections', async: 'true' });
    const { body: job } = await other.send<{ id: string }>('/v1/dataprep/ingest', { body: form });
    await gate.until(() => gate.requests > requests);
    await other.send(`/v1/dataprep/jobs/${job.id}`, { method: 'DELETE' });
    gate.open();
    const listed = await other.post<{ chunks: number }[]>('/v1/dataprep/get', { collection: 'sections' });
    expect(listed.body).toMatchObject([{ name: 'large.txt', chunks }]);
    await second.stop();
  });

  it('is patient with an overloaded embedding service', async () => {
    gate.refusals = 3;
    const { body } = await client.ingest([['busy.txt', longText]], fields('busy'));
    expect(body.documents).toMatchObject([{ outcome: 'added' }]);
    expect(gate.refusals).toBe(0);
  });

  it('lets two uploads of one name race: one of them is there, whole', async () => {
    const versions = ['red', 'blue', 'green'].map((color) => `${longText} The color is ${color}.`.repeat(3));
    const answers = await Promise.all(
      versions.map((text) => client.ingest([['race.txt', text]], fields('race'))),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    const { body } = await client.post<{ id: string; chunks: number }[]>('/v1/dataprep/get', {
      collection: 'race',
    });
    const [stored] = body;
    const ingested = answers.flatMap((answer) => answer.body.documents);
    expect(body).toHaveLength(1);
    expect(ingested).toContainEqual(
      expect.objectContaining({ documentId: stored?.id, chunks: stored?.chunks }),
    );
  });

  it('answers health checks while it reads a large document', async () => {
    const pages = Array.from({ length: 4_000 }, (_unused, index) => `<p>Paragraph ${index} says little.</p>`);
    const ingesting = client.ingest([['large.html', `<html>${pages.join('')}</html>`]], {
      collection: 'large',
    });
    let slowest = 0;
    let answered = 0;
    const progress = { isDone: false };
    void ingesting.finally(() => (progress.isDone = true));
    while (!progress.isDone) {
      const startedAt = performance.now();
      const { status } = await fetch(`${client.url}/live`);
      expect(status).toBe(200);
      slowest = Math.max(slowest, performance.now() - startedAt);
      answered += 1;
    }
    expect((await ingesting).body.documents).toMatchObject([{ outcome: 'added' }]);
    expect(answered).toBeGreaterThan(3);
    // Far above what a busy machine needs, far below what reading on the event loop would take with a larger file.
    expect(slowest).toBeLessThan(5_000);
  });

  it.each([
    ['a file', [['a.txt', 'x'.repeat(200_001)]], 'files[0]'],
    [
      'all files together',
      [
        ['a.txt', 'x y '.repeat(45_000)],
        ['b.txt', 'x y '.repeat(45_000)],
      ],
      'files[1]',
    ],
    [
      'the number of files',
      [
        ['a.txt', 'a'],
        ['b.txt', 'b'],
        ['c.txt', 'c'],
        ['d.txt', 'd'],
      ],
      'files[3]',
    ],
  ] as [string, [string, string][], string][])('limits %s', async (_name, files, param) => {
    const { status, body } = await client.ingest(files, { collection: 'limits' });
    expect(status).toBe(413);
    expect(body.error).toMatchObject({ code: 'payload_too_large', param });
    expect(await client.names('limits')).toEqual([]);
  });

  it.each([
    ['no boundary', 'multipart/form-data', 'nothing', 400, 'invalid_request'],
    [
      'an early end',
      'multipart/form-data; boundary=b',
      '--b\r\nContent-Disposition: form-data; name="files"; filename="a.txt"\r\n\r\nhalf',
      400,
      'invalid_request',
    ],
    ['another type', 'text/plain', 'hello', 415, 'unsupported_media_type'],
  ])('refuses a form with %s', async (_name, type, body, status, code) => {
    const init = { headers: { 'content-type': type }, body };
    const answer = await client.send<{ error: { code: string } }>('/v1/dataprep/ingest', init);
    expect(answer).toMatchObject({ status, body: { error: { code } } });
  });

  describe('links', () => {
    let site: Server;
    let origin = '';

    beforeAll(async () => {
      site = createServer((request, response) => {
        if (request.url === '/page.php')
          response.setHeader('content-type', 'text/html').end('<h1>A</h1><p>Text.</p>');
        else response.writeHead(404).end();
      });
      await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
      origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
    });

    afterAll(() => site.close());

    it('are fetched, stored under their address and deleted by it', async () => {
      const link = `${origin}/page.php#part`;
      const { body } = await client.ingest([], { collection: 'links', link_list: JSON.stringify([link]) });
      expect(body.documents).toMatchObject([{ filename: `${origin}/page.php`, chunks: 1 }]);
      const listed = await client.post<{ source: string }[]>('/v1/dataprep/get', { collection: 'links' });
      expect(listed.body[0]?.source).toBe(`${origin}/page.php`);
      const deleted = await client.post('/v1/dataprep/delete', { file_path: link, collection: 'links' });
      expect(deleted.body).toEqual({ status: true, deleted: 1 });
    });

    it('name themselves when they cannot be read', async () => {
      const link_list = `${origin}/page.php,${origin}/missing`;
      const { status, body } = await client.ingest([], { collection: 'broken', link_list });
      expect(status).toBe(200);
      const failed = [
        { filename: `${origin}/missing`, error: { code: 'unreachable_url', param: 'link_list[1]' } },
      ];
      expect(body).toMatchObject({ documents: [{ filename: `${origin}/page.php` }], failed });
      const alone = await client.ingest([], { collection: 'broken', link_list: `${origin}/missing` });
      expect(alone.status).toBe(400);
      expect(alone.body.error).toMatchObject({ code: 'unreachable_url', param: 'link_list[0]' });
    });
  });

  it('counts finished, failed and abandoned ingests apart', async () => {
    const statistics = await fetch(`${client.url}/v1/statistics`);
    const body = (await statistics.json()) as Record<string, { count: number }>;
    expect(body['opea_service@dataprep/ingest']?.count).toBeGreaterThan(3);
    const metrics = await (await fetch(`${client.url}/metrics`)).text();
    for (const outcome of ['ok', 'error', 'cancelled']) {
      expect(metrics).toMatch(new RegExp(`duration_seconds_count{.*outcome="${outcome}"`));
    }
  });
});
