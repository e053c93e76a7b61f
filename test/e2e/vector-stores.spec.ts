import { allServices, startService, startStack, type TestService, type TestStack } from '#platform/testing';
import OpenAI, { toFile } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { clientOf } from '../attacks/client.js';
import { runShortForm } from '../attacks/short-form.js';
import { postJson } from './helpers/http.js';
import { failureOf, newClient, problemsOf } from './helpers/response-events.js';

let stack: TestStack;
let gateway: TestService;
let client: OpenAI;
let stranger: OpenAI;

const keys = { API_KEYS: 'first-key,second-key' };
const fast = { pollIntervalMs: 50 };

beforeAll(async () => {
  stack = await startStack({
    env: { ...keys, INDEXING_LEASE_MS: '1000', UPLOAD_FILE_LIMIT_BYTES: '200000' },
  });
  gateway = stack.service('gateway');
  client = newClient(gateway.url, 'first-key');
  stranger = newClient(gateway.url, 'second-key');
});
afterAll(() => stack?.stop());

const textFile = (name: string, text: string) => toFile(Buffer.from(text), name);
const upload = async (name: string, text: string) =>
  client.files.create({ file: await textFile(name, text), purpose: 'user_data' });

const whale = 'The Quibblewick engine runs on fermented plum juice. It was built in a barn near Lisbon.';
const clock = 'The Snorfle clock has sixteen cogs. It was made by a baker.';

/** A body as it was sent: the client leaves fields out of what it types, and adds others. */
async function bodyOf(path: string): Promise<unknown> {
  const response = await fetch(`${gateway.url}/v1${path}`, {
    headers: { authorization: 'Bearer first-key' },
  });
  return response.json();
}

describe('vector stores', () => {
  it('are created, changed, listed and deleted', async () => {
    const store = await client.vectorStores.create({
      name: 'One',
      metadata: { a: '1', b: '2' },
      expires_after: { anchor: 'last_active_at', days: 3 },
    });
    expect(store).toMatchObject({ name: 'One', status: 'completed', usage_bytes: 0, object: 'vector_store' });
    expect(store.expires_at).toBe((store.last_active_at ?? 0) + 3 * 86_400);
    const changed = await client.vectorStores.update(store.id, {
      name: 'Two',
      metadata: { b: null as unknown as string, c: '3' },
      expires_after: null,
    });
    expect(changed).toMatchObject({ name: 'Two', metadata: { a: '1', c: '3' }, expires_at: null });
    const second = await client.vectorStores.create({});
    const listed: string[] = [];
    for await (const { id } of client.vectorStores.list({ limit: 1 })) listed.push(id);
    expect(listed).toEqual([second.id, store.id]);
    const before = await client.vectorStores.list({ before: store.id });
    expect(before.data.map(({ id }) => id)).toEqual([second.id]);
    expect(problemsOf('ListVectorStoresResponse', await bodyOf('/vector_stores'))).toEqual([]);
    expect(problemsOf('VectorStoreObject', await bodyOf(`/vector_stores/${store.id}`))).toEqual([]);
    for (const id of listed)
      expect((await client.vectorStores.delete(id)).object).toBe('vector_store.deleted');
    expect(await failureOf(client.vectorStores.retrieve(store.id))).toMatchObject({ status: 404 });
  });

  it('index files, one by one and in batches, and say what is wrong with one', async () => {
    const store = await client.vectorStores.create({ name: 'Things' });
    const first = await client.vectorStores.files.uploadAndPoll(
      store.id,
      await textFile('engine.md', whale),
      fast,
    );
    expect(first).toMatchObject({ status: 'completed', last_error: null, attributes: {} });
    expect(first.usage_bytes).toBeGreaterThan(0);
    const twin = await upload('engine.md', clock);
    const small = {
      type: 'static' as const,
      static: { max_chunk_size_tokens: 100, chunk_overlap_tokens: 20 },
    };
    const second = await client.vectorStores.files.createAndPoll(
      store.id,
      { file_id: twin.id, attributes: { kind: 'clock', cogs: 16 }, chunking_strategy: small },
      fast,
    );
    expect(second).toMatchObject({ status: 'completed', chunking_strategy: small });
    const content: string[] = [];
    for await (const { text } of client.vectorStores.files.content(twin.id, { vector_store_id: store.id }))
      content.push(text ?? '');
    expect(content).toEqual([clock]);

    const png = await toFile(Buffer.from('89504e470d0a1a0a', 'hex'), 'picture.png');
    const huge = await textFile('huge.txt', 'word '.repeat(50_000));
    const good = await textFile('good.txt', 'Good things come in threes.');
    const polled: { isUnderWay: boolean; after: string | null }[] = [];
    const noting = client.withOptions({
      fetch: async (input, init) => {
        const answer = await fetch(input, init);
        const { object, status } = (await answer.clone().json()) as { object?: string; status?: string };
        if (init?.method === 'GET' && object === 'vector_store.files_batch')
          polled.push({
            isUnderWay: status === 'in_progress',
            after: answer.headers.get('openai-poll-after-ms'),
          });
        return answer;
      },
    });
    const batch = await noting.vectorStores.fileBatches.uploadAndPoll(store.id, { files: [png, huge, good] });
    expect(polled.length).toBeGreaterThan(0);
    for (const { isUnderWay, after } of polled) expect(after).toBe(isUnderWay ? '500' : null);
    expect(batch).toMatchObject({ status: 'completed', file_counts: { completed: 1, failed: 2, total: 3 } });
    const failed = await client.vectorStores.fileBatches.listFiles(batch.id, {
      vector_store_id: store.id,
      filter: 'failed',
      order: 'asc',
    });
    expect(failed.data.map(({ last_error }) => String(last_error?.code)).toSorted()).toEqual([
      'invalid_file',
      'unsupported_file',
    ]);
    expect(failed.data.map(({ last_error }) => last_error?.message).join(' ')).toMatch(
      /picture\.png cannot be read/,
    );
    const path = `/vector_stores/${store.id}`;
    expect(problemsOf('VectorStoreFileObject', await bodyOf(`${path}/files/${twin.id}`))).toEqual([]);
    expect(problemsOf('ListVectorStoreFilesResponse', await bodyOf(`${path}/files?filter=failed`))).toEqual(
      [],
    );
    expect(
      problemsOf('VectorStoreFileBatchObject', await bodyOf(`${path}/file_batches/${batch.id}`)),
    ).toEqual([]);
    const page = await bodyOf(`${path}/files/${twin.id}/content`);
    expect(problemsOf('VectorStoreFileContentResponse', page)).toEqual([]);
    expect(await client.vectorStores.retrieve(store.id)).toMatchObject({
      status: 'completed',
      file_counts: { completed: 3, failed: 2, in_progress: 0, cancelled: 0, total: 5 },
    });
    const removed = await client.vectorStores.files.delete(first.id, { vector_store_id: store.id });
    expect(removed).toEqual({ id: first.id, object: 'vector_store.file.deleted', deleted: true });
    expect(await client.files.retrieve(first.id)).toMatchObject({ filename: 'engine.md' });
    await client.vectorStores.delete(store.id);
  });

  it('cancel what of a batch is not indexed yet', async () => {
    const store = await client.vectorStores.create({});
    const words = Array.from({ length: 25_000 }, (_unused, index) => `word${index}`).join(' ');
    const files = await Promise.all(
      [1, 2, 3].map((number) => upload(`${number}.txt`, words.slice(0, 190_000))),
    );
    const batch = await client.vectorStores.fileBatches.create(store.id, {
      file_ids: files.map(({ id }) => id),
    });
    expect(batch.status).toBe('in_progress');
    const cancelled = await client.vectorStores.fileBatches.cancel(batch.id, { vector_store_id: store.id });
    expect(cancelled).toMatchObject({ status: 'cancelled', file_counts: { in_progress: 0, total: 3 } });
    expect(cancelled.file_counts.cancelled).toBeGreaterThan(0);
    await client.vectorStores.delete(store.id);
    for (const { id } of files) await client.files.delete(id);
  });
});

describe('searches', () => {
  let storeId: string;
  let engine: OpenAI.FileObject;
  beforeAll(async () => {
    engine = await upload('engine.md', whale);
    const other = await upload('clock.md', clock);
    const store = await client.vectorStores.create({ file_ids: [other.id] });
    storeId = store.id;
    await client.vectorStores.files.createAndPoll(
      storeId,
      { file_id: engine.id, attributes: { year: 1900 } },
      fast,
    );
    await client.vectorStores.files.poll(storeId, other.id, fast);
    await client.vectorStores.files.update(other.id, {
      vector_store_id: storeId,
      attributes: { year: 2000 },
    });
  });

  const search = async (more: Partial<OpenAI.VectorStoreSearchParams>) =>
    (await client.vectorStores.search(storeId, { query: 'What does the engine run on?', ...more })).data;

  it('find passages of real files, best first', async () => {
    const found = await search({ max_num_results: 1 });
    expect(found).toMatchObject([
      {
        file_id: engine.id,
        filename: 'engine.md',
        attributes: { year: 1900 },
        content: [{ type: 'text', text: whale }],
      },
    ]);
    const both = await search({
      query: ['plum juice', 'cogs of the clock'],
      ranking_options: { ranker: 'none' },
    });
    expect(both.map(({ filename }) => filename).toSorted()).toEqual(['clock.md', 'engine.md']);
    const [first, second] = both.map(({ score }) => score);
    expect(first).toBeGreaterThanOrEqual(second ?? 1);
    const asked = { query: 'Hi, please tell me about the engine.', rewrite_query: true };
    const url = `${gateway.url}/v1/vector_stores/${storeId}/search`;
    const { body } = await postJson(url, asked, { authorization: 'Bearer first-key' });
    expect(problemsOf('VectorStoreSearchResultsPage', body)).toEqual([]);
    expect(body).toMatchObject({ search_query: ['the engine'], data: [{ filename: 'engine.md' }, {}] });
  });

  it('look at attributes as they are now', async () => {
    const year = (type: 'gt' | 'lt') => ({ type, key: 'year', value: 1950 });
    expect((await search({ filters: year('gt') })).map(({ filename }) => filename)).toEqual(['clock.md']);
    expect((await search({ filters: year('lt') })).map(({ filename }) => filename)).toEqual(['engine.md']);
    const neither = { type: 'and' as const, filters: [year('gt'), year('lt')] };
    expect(await search({ filters: neither })).toEqual([]);
    expect(await search({ ranking_options: { score_threshold: 1 } })).toEqual([]);
    const wrong = { type: 'gt', key: 'year', value: true } as unknown as OpenAI.ComparisonFilter;
    expect(await failureOf(search({ filters: wrong }))).toMatchObject({
      status: 400,
      param: 'filters.value',
    });
  });

  it('belong to the key alone that made the store', async () => {
    expect(await failureOf(stranger.vectorStores.search(storeId, { query: 'x' }).asResponse())).toMatchObject(
      {
        status: 404,
      },
    );
    expect(await failureOf(stranger.vectorStores.retrieve(storeId))).toMatchObject({ status: 404 });
    expect(await failureOf(stranger.files.content(engine.id))).toMatchObject({ status: 404 });
    expect((await stranger.files.list()).data).toEqual([]);
    expect((await stranger.vectorStores.list()).data).toEqual([]);
    const own = await stranger.vectorStores.create({});
    expect(await failureOf(stranger.vectorStores.files.create(own.id, { file_id: engine.id }))).toMatchObject(
      {
        status: 404,
        param: 'file_id',
      },
    );
    const listed = await fetch(`${gateway.url}/v1/dataprep/get`, {
      method: 'POST',
      headers: { authorization: 'Bearer second-key', 'content-type': 'application/json' },
      body: '{}',
    });
    expect(await listed.json()).toEqual([]);
  });

  it('find nothing of a file that was deleted', async () => {
    await client.files.delete(engine.id);
    expect((await search({})).map(({ filename }) => filename)).toEqual(['clock.md']);
    expect(await client.vectorStores.retrieve(storeId)).toMatchObject({ file_counts: { total: 1 } });
  });
});

// Here, since this stack has all services and two keys.
describe('attacks of one key', () => {
  it('get sentences that name limits, and the small requests of another key are answered', async () => {
    const [attacker, other] = ['second-key', 'first-key'].map((key) => clientOf(gateway.url, key));
    expect(await runShortForm(attacker!, other!)).toEqual([]);
    for (const service of allServices)
      expect([service, (await fetch(`${stack.service(service).url}/live`)).status]).toEqual([service, 200]);
  });
});

describe('a gateway that is killed while it has a file indexed', () => {
  it('leaves the file to the next one', async () => {
    const words = Array.from({ length: 8_000 }, (_unused, index) => `word${index}`).join(' ');
    const store = await client.vectorStores.create({});
    const file = await upload('long.txt', words.slice(0, 60_000));
    await client.vectorStores.files.create(store.id, { file_id: file.id });
    await gateway.kill();
    gateway = await startService('gateway', stack.env);
    client = newClient(gateway.url, 'first-key');
    const done = await client.vectorStores.files.poll(store.id, file.id, fast);
    expect(done).toMatchObject({ status: 'completed', last_error: null });
    const found = await client.vectorStores.search(store.id, { query: 'word5000' });
    // The passages are alike but for their numbers, so the reranker may prefer a neighbor.
    const texts = found.data.map(({ content }) => content[0]?.text);
    expect(texts).toContainEqual(expect.stringContaining('word5000'));
    await gateway.stop();
  });
});
