import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { downloadModel } from './hub.client.js';

const weights = Buffer.from('the weights');
const rightHash = createHash('sha256').update(weights).digest('hex');

let storage: Server;
let hub: Server;
let folder: string;
let announced: string;
let toStorage: IncomingMessage[];

const addressOf = (server: Server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const listen = (server: Server) => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

beforeAll(async () => {
  storage = createServer((request, response) => {
    toStorage.push(request);
    response.end(weights);
  });
  hub = createServer((request, response) => {
    const file = request.url?.split('/').at(-1) ?? '';
    if (/^(config|tokenizer|tokenizer_config)\.json$/.test(file)) response.end('{}');
    else if (file === 'model.safetensors')
      response
        .writeHead(302, { location: `${addressOf(storage)}/blob`, 'x-linked-etag': `"${announced}"` })
        .end();
    else response.writeHead(404).end();
  });
  await Promise.all([listen(storage), listen(hub)]);
});
afterAll(() => {
  storage.close();
  hub.close();
});

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'meganest-hub-'));
  toStorage = [];
  return () => rm(folder, { recursive: true });
});

const download = () => {
  const options = { cacheDirectory: folder, allowHub: true, hubEndpoint: addressOf(hub), hubToken: 'secret' };
  return downloadModel('a/b', options as never, () => Promise.resolve(true));
};

it('stores a file whose hash is the one that the hub names, and keeps the token from its storage', async () => {
  announced = rightHash;
  const directory = await download();
  expect(await readFile(join(directory, 'model.safetensors'))).toEqual(weights);
  expect(toStorage.map(({ headers }) => headers.authorization)).toEqual([undefined]);
});

it('refuses a file with another hash, and leaves nothing of it', async () => {
  announced = '0'.repeat(64);
  await expect(download()).rejects.toThrow(`its SHA-256 is ${rightHash}`);
  expect(await readdir(join(folder, 'a', 'b'))).not.toContainEqual(expect.stringContaining('safetensors'));
});

it('may run in several processes of the same id at once', async () => {
  announced = rightHash;
  const directories = await Promise.all([download(), download(), download()]);
  expect(new Set(directories).size).toBe(1);
  expect((await readdir(directories[0] ?? '')).filter((name) => name.endsWith('.partial'))).toEqual([]);
});
