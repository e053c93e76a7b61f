import { createHash, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { resolveModel, type DownloadProgress, type ModelLoadOptions } from '#engine/models';
import { HubServer } from '../../support/hub-server.js';

const id = 'acme/tiny';
const weights = 'model.safetensors';
const shards = ['model-00001-of-00002.safetensors', 'model-00002-of-00002.safetensors'];

let scratch: string;
let hub: HubServer;
let options: ModelLoadOptions;
let notices: string[];

beforeEach(async () => {
  scratch = await mkdtemp(path.join(tmpdir(), 'hub-download-'));
  const model = path.join(scratch, 'hub', id);
  await mkdir(model, { recursive: true });
  for (const file of ['config.json', 'tokenizer.json', 'tokenizer_config.json'])
    await writeFile(path.join(model, file), '{}');
  await writeFile(path.join(model, weights), randomBytes(4_000_000));
  hub = await HubServer.start(path.join(scratch, 'hub'));
  notices = [];
  options = {
    cacheDirectory: path.join(scratch, 'cache'),
    otherHubCaches: [path.join(scratch, 'python')],
    allowHub: true,
    hubEndpoint: hub.url,
    onNotice: (text) => notices.push(text),
  };
});
afterEach(async () => {
  await hub.close();
  await rm(scratch, { recursive: true });
});

const compiles = () => Promise.resolve(true);
const resolve = (more: ModelLoadOptions = {}, source = id) =>
  resolveModel(source, { ...options, ...more }, compiles);
const original = (file: string) => readFile(path.join(scratch, 'hub', id, file));
const sha256Of = (content: Buffer) => createHash('sha256').update(content).digest('hex');
const folder = () => path.join(scratch, 'cache', 'hub', 'models--acme--tiny');

async function writeShards(): Promise<void> {
  const model = path.join(scratch, 'hub', id);
  await rm(path.join(model, weights));
  for (const shard of shards) await writeFile(path.join(model, shard), randomBytes(200_000));
  const weight_map = { first: shards[0], second: shards[1], third: shards[1] };
  await writeFile(path.join(model, `${weights}.index.json`), JSON.stringify({ weight_map }));
}

describe('a download', () => {
  it('lies in the layout of the hub’s clients, keeps its commit, and needs no network afterwards', async () => {
    hub.token = 'secret';
    const { directory } = await resolve({ hubToken: 'secret' });
    const commit = hub.commitOf(id);
    expect(directory).toBe(path.join(folder(), 'snapshots', commit));
    expect(await readFile(path.join(folder(), 'refs', 'main'), 'utf8')).toBe(commit);
    const blob = await realpath(path.join(directory, weights));
    expect(path.dirname(blob)).toBe(await realpath(path.join(folder(), 'blobs')));
    expect(sha256Of(await readFile(blob))).toBe(sha256Of(await original(weights)));
    expect(hub.asked(weights).map(({ authorization }) => authorization)).toEqual([undefined]);
    hub.requests.length = 0;
    // The branch has moved on; what is here stays.
    await writeFile(path.join(scratch, 'hub', id, weights), randomBytes(10));
    expect(await resolve({ allowHub: false })).toEqual({ id, directory });
    expect(hub.requests).toEqual([]);
  });

  it('takes a commit behind an @', async () => {
    const commit = hub.commitOf(id);
    const found = await resolve({}, `${id}@${commit}`);
    expect(found).toEqual({ id, directory: path.join(folder(), 'snapshots', commit) });
    await expect(resolve({}, `${id}@v9`)).rejects.toThrow('revision "v9" does not exist');
  });

  it('uses a cache that Python’s huggingface_hub has filled', async () => {
    await resolve();
    await rename(path.join(scratch, 'cache', 'hub'), path.join(scratch, 'python'));
    hub.requests.length = 0;
    const { directory } = await resolve();
    expect(directory).toContain(path.join(scratch, 'python', 'models--acme--tiny', 'snapshots'));
    expect(hub.requests).toEqual([]);
  });

  it('goes on where a connection broke', async () => {
    hub.faults.push({ file: weights, kind: 'break', at: 0.6, times: 1 });
    const progress: DownloadProgress[] = [];
    const { directory } = await resolve({ onProgress: (step) => progress.push(step) });
    expect(sha256Of(await readFile(path.join(directory, weights)))).toBe(sha256Of(await original(weights)));
    const [first, second, ...more] = hub.asked(weights).map(({ range }) => range);
    expect([first, more]).toEqual([undefined, []]);
    const from = Number(/^bytes=(\d+)-$/.exec(second ?? '')?.[1]);
    expect(from).toBeGreaterThan(2_000_000);
    expect(from).toBeLessThanOrEqual(2_400_000);
    const { loadedBytes, totalBytes } = progress.at(-1)!;
    expect(loadedBytes).toBe(totalBytes);
    expect(notices.join()).toContain('next try in');
  });

  it('begins again where the part of an earlier process was damaged', async () => {
    const blobs = path.join(folder(), 'blobs');
    await mkdir(blobs, { recursive: true });
    const sha256 = sha256Of(await original(weights));
    await writeFile(path.join(blobs, `${sha256}.meganest-partial`), randomBytes(3_000_000));
    const { directory } = await resolve();
    expect(sha256Of(await readFile(path.join(directory, weights)))).toBe(sha256Of(await original(weights)));
    expect(hub.asked(weights).map(({ range }) => range)).toEqual(['bytes=3000000-', undefined]);
  });

  it('fetches shards side by side', async () => {
    await writeShards();
    for (const file of shards) hub.faults.push({ file, kind: 'hold', at: 0.5, times: 1 });
    const held = Promise.all(shards.map((shard) => hub.whenHeld(shard)));
    const download = resolve();
    await held;
    hub.breakHeld();
    const { directory } = await download;
    for (const shard of shards)
      expect(sha256Of(await readFile(path.join(directory, shard)))).toBe(sha256Of(await original(shard)));
  });

  it('refuses a file with another hash than the hub states, and leaves nothing of it', async () => {
    hub.wrongHashes.set(weights, '0'.repeat(64));
    await expect(resolve()).rejects.toThrow(`the hub says ${'0'.repeat(64)}`);
    expect(await readdir(path.join(folder(), 'blobs'))).toHaveLength(1);
    hub.wrongHashes.clear();
    hub.wrongHashes.set('tokenizer.json', '1'.repeat(64));
    await rm(folder(), { recursive: true });
    await expect(resolve()).rejects.toThrow(/acme\/tiny\/tokenizer.json failed: its hash is/);
  });

  it('asks for a token where the hub does', async () => {
    hub.token = 'secret';
    await expect(resolve()).rejects.toThrow('does not exist or is gated: set HF_TOKEN');
    await expect(resolve({ hubToken: 'other' })).rejects.toThrow('HF_TOKEN has no access');
  });

  it('waits as long as the hub asks, within reason', async () => {
    const slow = { file: weights, kind: 'status', status: 429, times: 1 } as const;
    hub.faults.push({ ...slow, headers: { 'retry-after': '1' } });
    await resolve();
    expect(notices).toEqual([expect.stringContaining('answers 429; next try in 1.0 s')]);
    await rm(folder(), { recursive: true });
    hub.faults.push({ ...slow, headers: { 'retry-after': '3600' } });
    await expect(resolve()).rejects.toThrow('The hub asks for a pause of 3600 s');
  });

  it('says what room it needs before it begins', async () => {
    hub.wrongSizes.set(weights, 9e15);
    await expect(resolve()).rejects.toThrow(/needs 9000000000 MB more in .*, where \d+ MB are free/);
    expect(hub.asked(weights)).toEqual([]);
  });

  it('names what a model lacks', async () => {
    await rm(path.join(scratch, 'hub', id, weights));
    await expect(resolve()).rejects.toThrow('neither safetensors that can be compiled nor an ONNX graph');
    await rm(path.join(scratch, 'hub', id, 'config.json'));
    await expect(resolve()).rejects.toThrow('has no config.json');
  });
});

describe('several downloads of one model', () => {
  it('fetch it once', async () => {
    const found = await Promise.all([resolve(), resolve(), resolve()]);
    expect(new Set(found.map(({ directory }) => directory)).size).toBe(1);
    expect(hub.asked(weights)).toHaveLength(1);
    expect(await readdir(path.join(scratch, 'cache', 'hub', '.meganest'))).toEqual([]);
  });

  const lock = () => path.join(scratch, 'cache', 'hub', '.meganest', 'acme--tiny.json');
  const writeLock = async (content: object) => {
    await mkdir(path.dirname(lock()), { recursive: true });
    const state = { model: id, loadedBytes: 5, totalBytes: 10, owner: 'other', beat: 1 };
    await writeFile(lock(), JSON.stringify({ ...state, ...content }));
  };

  it('wait for a container whose process has the same number', async () => {
    await writeLock({ pid: process.pid, place: 'another container' });
    const download = new Promise<DownloadProgress>((heard, failed) => {
      resolve({ onProgress: heard }).catch(failed);
    });
    expect(await download).toMatchObject({ loadedBytes: 5, totalBytes: 10 });
    expect(hub.requests).toEqual([]);
    await rm(lock());
    await expect.poll(() => existsSync(path.join(folder(), 'refs', 'main'))).toBe(true);
    await expect.poll(() => existsSync(lock())).toBe(false);
  });
});

it('copies of a snapshot without links work too', async () => {
  const { directory } = await resolve();
  const copy = path.join(scratch, 'copy');
  await cp(directory, copy, { recursive: true, dereference: true });
  expect(await resolve({}, copy)).toMatchObject({ directory: copy });
});
