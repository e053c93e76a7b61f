import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createTemporaryDirectory } from '#platform/testing';
import { ingestSampleDocuments, type SampleDocumentsOptions } from './sample-documents.js';

let directory: { path: string; remove(): Promise<void> };
let server: Server;
let options: SampleDocumentsOptions;
let status: number;
/** Names of documents that dataprep does not store, with the number of attempts that fail. */
let failures: Map<string, number>;
const uploads: { names: string[]; authorization: string | undefined }[] = [];
const ingested = async () => (await ingestSampleDocuments(options)).ingested;

/** Notes an upload as dataprep would receive it. */
async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await readText(request);
  const names = [...body.matchAll(/name="files"; filename="([^"]+)"/g)].map(([, name]) => name ?? '');
  uploads.push({ names, authorization: request.headers.authorization });
  if (status !== 200) return void response.writeHead(status).end('{"error":{"message":"the reason"}}');
  const isFailure = (name: string) => (failures.get(name) ?? 0) > 0;
  const failed = names.filter(isFailure);
  const documents = names.filter((name) => !isFailure(name)).map((filename) => ({ filename }));
  for (const name of failed) failures.set(name, failures.get(name)! - 1);
  const errors = failed.map((filename) => ({ filename, error: { message: 'it takes too long' } }));
  const done = JSON.stringify({ status: 200, documents, failed: errors });
  response.writeHead(200, { 'content-type': 'text/event-stream' }).end(`event: done\ndata: ${done}\n\n`);
}

beforeEach(async () => {
  status = 200;
  failures = new Map();
  uploads.length = 0;
  directory = await createTemporaryDirectory();
  mkdirSync(join(directory.path, 'docs'));
  writeFileSync(join(directory.path, 'docs', 'api.md'), '# The API');
  writeFileSync(join(directory.path, 'docs', 'operations.md'), '# Operations');
  server = createServer((request, response) => void receive(request, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  options = {
    projectDirectory: directory.path,
    markerPath: join(directory.path, 'marker.json'),
    pausesMs: [0, 0],
    dataprepUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  };
});

afterEach(async () => {
  server.close();
  await directory.remove();
});

it('ingests each document once', async () => {
  const { ingested: names } = await ingestSampleDocuments({ ...options, apiKey: 'key' });
  expect(names).toEqual(['api.md', 'operations.md']);
  expect(await ingested()).toEqual([]);
  expect(uploads).toEqual([{ names: ['api.md', 'operations.md'], authorization: 'Bearer key' }]);
});

it('ingests a document again when it has changed', async () => {
  await ingested();
  writeFileSync(join(directory.path, 'docs', 'api.md'), '# The new API');
  expect(await ingested()).toEqual(['api.md']);
});

it('tries again the documents that failed, and only those', async () => {
  failures.set('api.md', 2);
  expect(await ingestSampleDocuments(options)).toEqual({
    ingested: ['api.md', 'operations.md'],
    failed: [],
  });
  expect(uploads.map(({ names }) => names)).toEqual([['api.md', 'operations.md'], ['api.md'], ['api.md']]);
});

it('names a document that still fails, and tries it again at the next start', async () => {
  failures.set('api.md', 3);
  expect(await ingestSampleDocuments(options)).toEqual({
    ingested: ['operations.md'],
    failed: [{ filename: 'api.md', reason: 'it takes too long' }],
  });
  expect(await ingested()).toEqual(['api.md']);
});

it('says why dataprep refused, and tries again next time', async () => {
  status = 500;
  const { failed } = await ingestSampleDocuments(options);
  expect(failed).toEqual([
    { filename: 'api.md', reason: 'the reason' },
    { filename: 'operations.md', reason: 'the reason' },
  ]);
  expect(uploads).toHaveLength(3);
  status = 200;
  expect(await ingested()).toHaveLength(2);
});
