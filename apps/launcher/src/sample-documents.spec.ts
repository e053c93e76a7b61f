import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createTemporaryDirectory } from '#testing';
import { ingestSampleDocuments, type SampleDocumentsOptions } from './sample-documents.js';

let directory: { path: string; remove(): Promise<void> };
let server: Server;
let options: SampleDocumentsOptions;
let status: number;
const uploads: { names: string[]; authorization: string | undefined }[] = [];

/** Notes an upload as dataprep would receive it. */
async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await readText(request);
  const names = [...body.matchAll(/name="files"; filename="([^"]+)"/g)].map(([, name]) => name ?? '');
  uploads.push({ names, authorization: request.headers.authorization });
  response.writeHead(status).end('{"error":"the reason"}');
}

beforeEach(async () => {
  status = 200;
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
    dataprepUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  };
});

afterEach(async () => {
  server.close();
  await directory.remove();
});

it('ingests each document once', async () => {
  expect(await ingestSampleDocuments({ ...options, apiKey: 'key' })).toEqual(['api.md', 'operations.md']);
  expect(await ingestSampleDocuments(options)).toEqual([]);
  expect(uploads).toEqual([{ names: ['api.md', 'operations.md'], authorization: 'Bearer key' }]);
});

it('ingests a document again when it has changed', async () => {
  await ingestSampleDocuments(options);
  writeFileSync(join(directory.path, 'docs', 'api.md'), '# The new API');
  expect(await ingestSampleDocuments(options)).toEqual(['api.md']);
});

it('says why dataprep refused, and tries again next time', async () => {
  status = 500;
  await expect(ingestSampleDocuments(options)).rejects.toThrow(
    'dataprep answered 500: {"error":"the reason"}',
  );
  status = 200;
  expect(await ingestSampleDocuments(options)).toHaveLength(2);
});
