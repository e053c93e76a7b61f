import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { embed, generate, retrieve } from '#platform/contracts';
import { MessagingConnection, ObjectStore, RpcClient } from '#platform/messaging';
import { natsUsers, repositoryRoot, startNats, startStack, type TestStack } from '#platform/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

/** The whole pipeline on the users of deploy/nats/users.conf, over TLS. */
const tls = (name: string) => join(repositoryRoot, 'test/fixtures/tls', name);
const users = natsUsers();
const lines: string[] = [];
/** What the server refused, as its log says it. */
const refused = () => lines.filter((line) => /violation|not authorized/i.test(line));

let stack: TestStack;
let gateway: string;

beforeAll(async () => {
  const server = await startNats(
    `${users.configuration}tls { cert_file: "${tls('server.crt')}", key_file: "${tls('server.key')}" }\n`,
    { onLine: ({ text }) => lines.push(text) },
  );
  stack = await startStack({ nats: { server, users }, env: { NATS_CA_FILE: tls('ca.crt') } });
  gateway = stack.service('gateway').url;
});
afterAll(() => stack?.stop());
beforeEach(() => lines.splice(0));

const post = async (path: string, body: object | FormData) => {
  const isForm = body instanceof FormData;
  const response = await fetch(gateway + path, {
    method: 'POST',
    body: isForm ? body : JSON.stringify(body),
    ...(!isForm && { headers: { 'content-type': 'application/json' } }),
  });
  const bytes = await response.arrayBuffer();
  expect({ path, status: response.status, body: response.ok ? '' : Buffer.from(bytes).toString() }).toEqual({
    path,
    status: 200,
    body: '',
  });
  return Buffer.from(bytes).toString();
};

const form = (field: string, content: Blob, name: string) => {
  const result = new FormData();
  result.set(field, content, name);
  return result;
};

describe('with a user for each service', () => {
  it('documents are ingested and answered from', async () => {
    await post(
      '/v1/dataprep/ingest',
      form('files', new Blob(['The office in Lisbon opens at 8 am.']), 'a.txt'),
    );
    const recording = readFileSync(join(repositoryRoot, 'test/fixtures/asr/question.wav'));
    await post('/v1/dataprep/ingest', form('files', new Blob([new Uint8Array(recording)]), 'question.wav'));
    const job = form('files', new Blob(['The office in Oslo opens at 9 am.']), 'b.txt');
    job.append('files', new Blob(['The office in Rome opens at 10 am.']), 'c.txt');
    job.set('async', 'true');
    const started = await fetch(`${gateway}/v1/dataprep/ingest`, { method: 'POST', body: job });
    expect(started.status).toBe(202);
    const answer = await post('/v1/chat/completions', { messages: 'When does the office in Lisbon open?' });
    expect(answer).toContain('8 am');
    expect(refused()).toEqual([]);
  });

  it('models, speech, guards, summaries and discovery work', async () => {
    await post('/v1/embeddings', { model: 'nano-embed', input: 'x' });
    await post('/v1/rerank', { model: 'nano-rerank', query: 'x', documents: ['x', 'y'] });
    await post('/v1/chat/completions', { model: 'chatqna-guarded', messages: 'When does the office open?' });
    await post('/v1/docsum', {
      messages: 'The office opens at 8. It closes at 7. It is in Lisbon.',
      stream: false,
    });
    await post('/v1/audio/speech', { model: 'flite', input: 'Good morning.', response_format: 'wav' });
    const question = new Blob([readFileSync(join(repositoryRoot, 'test/fixtures/asr/question.wav'))]);
    const audio = form('file', question, 'question.wav');
    audio.set('model', 'nano-asr');
    await post('/v1/audio/transcriptions', audio);
    const instances = (await (await fetch(`${gateway}/v1/instances`)).json()) as { instances: unknown[] };
    expect(JSON.stringify(instances)).toContain('guardrail');
    expect((await fetch(`${gateway}/v1/health_check`)).status).toBe(200);
    expect((await fetch(`${gateway}/v1/doctor`)).status).toBe(200);
    expect(refused()).toEqual([]);
  });
});

/** A connection as that user, as a service whose program an attacker has taken over would make one. */
async function as(user: string): Promise<MessagingConnection> {
  const { NATS_USER, NATS_PASSWORD } = users.variables(user);
  return MessagingConnection.open({
    url: stack.nats.url.replace(/^nats:\/\//, ''),
    user: NATS_USER,
    password: NATS_PASSWORD,
    tls: { caFile: tls('ca.crt') },
    name: user,
  });
}

describe('a service', () => {
  it.each([
    ['reranking', 'meganest.llm.generate'],
    ['reranking', 'meganest.>'],
    ['reranking', '_INBOX.gateway.>'],
    ['reranking', '_INBOX.>'],
    ['reranking', '$O.meganest-uploads.>'],
    ['reranking', '>'],
    ['gateway', 'meganest.llm.*'],
    ['dataprep', 'meganest.retrieval.*'],
    ['operator', '_INBOX.gateway.>'],
    ['operator', 'meganest.>'],
  ])('%s may not hear %s', async (user, subject) => {
    const connection = await as(user);
    const heard = new Promise<Error | null>((resolve) => {
      connection.nats.subscribe(subject, { callback: (error) => resolve(error) });
    });
    expect((await heard)?.message).toMatch(/Permissions Violation for Subscription/);
    await connection.close();
  });

  it.each([
    ['reranking', 'meganest.retrieval.retrieve'],
    ['reranking', 'meganest.dataprep.delete'],
    ['reranking', 'meganest.cancel.x'],
    ['reranking', '_INBOX.gateway.x.llm.y'],
    ['reranking', '$JS.API.STREAM.DELETE.OBJ_meganest-uploads'],
    ['reranking', '$JS.API.CONSUMER.CREATE.OBJ_meganest-uploads.x'],
    ['retrieval', 'meganest.llm.generate'],
    ['llm', 'meganest.dataprep.delete'],
    ['asr', '$O.meganest-uploads.C.x'],
    ['dataprep', '$JS.API.STREAM.DELETE.OBJ_meganest-uploads'],
    ['operator', 'meganest.dataprep.delete'],
  ])('%s may not publish to %s', async (user, subject) => {
    const connection = await as(user);
    connection.nats.publish(subject, 'x');
    await connection.nats.flush();
    await expect.poll(refused).toEqual([expect.stringContaining(`Subject "${subject}"`)]);
    await connection.close();
  });

  it('may call those that it needs, and the bucket is open to those that carry files', async () => {
    const retrieval = await as('retrieval');
    const client = new RpcClient(retrieval);
    expect((await client.request(embed, { inputs: ['x'] })).model).toBe('nano-embed');
    // Larger than a message: it travels in parts.
    const large = Array.from({ length: 100 }, () => 'word '.repeat(3_000));
    expect((await client.request(embed, { inputs: large, truncate: true })).model).toBe('nano-embed');
    expect(refused()).toEqual([]);
    const soon = { deadline: Date.now() + 500 };
    await expect(client.request(retrieve, { query: 'x', vector: [1] } as never, soon)).rejects.toThrow(
      /ran out of time/,
    );
    await expect(
      client.stream(generate, { messages: [{ role: 'user', content: 'x' }] }, soon).next(),
    ).rejects.toThrow(/ran out of time/);
    client.close();
    await retrieval.close();
    const dataprep = await as('dataprep');
    const store = new ObjectStore(dataprep);
    const { objectId } = await store.put(Buffer.from('content'), { filename: 'a', mimeType: 'text/plain' });
    const asr = await as('asr');
    const pieces: Uint8Array[] = [];
    for await (const piece of new ObjectStore(asr).get(objectId)) pieces.push(piece);
    expect(Buffer.concat(pieces).toString()).toBe('content');
    await store.delete(objectId);
    await Promise.all([dataprep.close(), asr.close()]);
  });
});
