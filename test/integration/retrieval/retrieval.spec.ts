import {
  describeEmbeddingModel,
  embed,
  encodeVector,
  healthMethod,
  retrieve,
  type RequestOf,
} from '#platform/contracts';
import { MessagingConnection, RpcClient } from '#platform/messaging';
import { DocumentsRepository, openDatabase, type Database } from '#platform/storage';
import {
  startNats,
  startPostgres,
  startService,
  type TestNats,
  type TestPostgres,
  type TestService,
} from '#platform/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const texts = [
  'Paris is the capital of France.',
  'Bread is made of flour, water and salt.',
  'A kettle boils water for tea.',
];

interface Answer {
  status: number;
  body: Record<string, unknown>;
}

describe('the retrieval service', () => {
  let nats: TestNats;
  let postgres: TestPostgres;
  let embedding: TestService;
  let service: TestService;
  let connection: MessagingConnection;
  let client: RpcClient;
  let database: Database;

  async function vectorOf(text: string): Promise<Float32Array> {
    const { vectors } = await client.request(embed, { inputs: [text] });
    const bytes = Buffer.from(vectors, 'base64');
    return new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
  }

  beforeAll(async () => {
    [nats, postgres] = await Promise.all([startNats(), startPostgres({ isOwn: true })]);
    const env = { NATS_URL: nats.url, DATABASE_URL: postgres.connectionString };
    [embedding, service] = await Promise.all([
      startService('embedding', env),
      startService('retrieval', env),
    ]);
    connection = await MessagingConnection.open({ url: nats.url, name: 'test' });
    client = new RpcClient(connection);
    database = openDatabase({ connectionString: postgres.connectionString });
    const chunks = await Promise.all(texts.map(async (text) => ({ text, embedding: await vectorOf(text) })));
    const { id, revision } = await client.request(describeEmbeddingModel, {});
    await new DocumentsRepository(database).replaceDocument(
      {
        filename: 'facts.md',
        contentHash: 'facts',
        mimeType: 'text/markdown',
        bytes: 100,
        metadata: { kind: 'fact' },
        embeddingModel: `${id}@${revision}`,
      },
      chunks,
    );
  });

  afterAll(async () => {
    client?.close();
    await connection?.close();
    await database?.close();
    await Promise.all([service?.stop(), embedding?.stop()]);
    await Promise.all([nats?.stop(), postgres?.stop()]);
  });

  async function post(path: string, body: unknown): Promise<Answer> {
    const response = await fetch(`${service.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return { status: response.status, body: (await response.json()) as Answer['body'] };
  }

  const ask = (request: RequestOf<typeof retrieve>) => client.request(retrieve, request);

  describe('over NATS', () => {
    it('finds passages with all that a citation needs', async () => {
      const query = 'What is the capital of France?';
      const reply = await ask({ query, embedding: encodeVector(await vectorOf(query)) });
      expect(reply.searchType).toBe('hybrid');
      expect(reply.documents[0]).toMatchObject({
        text: texts[0],
        metadata: { filename: 'facts.md', chunk_index: 0, kind: 'fact', document_id: expect.any(String) },
      });
      expect(reply.documents).toHaveLength(3);
    });

    it('searches words without an embedding, and says when it needs one', async () => {
      const reply = await ask({ query: 'flour', search_type: 'lexical', filter: { kind: ['fact'] } });
      expect(reply.documents.map(({ text }) => text)).toEqual([texts[1]]);
      await expect(ask({ query: 'flour', search_type: 'similarity' })).rejects.toMatchObject({
        code: 'invalid_request',
        param: 'embedding',
      });
      await expect(ask({ query: 'flour', embedding: 'AAA=' })).rejects.toMatchObject({ param: 'embedding' });
    });

    it('reports the database in its health', async () => {
      // A report is as old as a second.
      await expect
        .poll(() => client.request(healthMethod('retrieval'), {}))
        .toMatchObject({
          healthy: true,
          dependencies: [{ name: 'postgres', healthy: true, detail: '1 documents, 3 chunks' }],
        });
    });
  });

  describe('over HTTP', () => {
    it("answers in the specification's shape", async () => {
      const query = 'Which city is the capital of France?';
      const numbers = [...(await vectorOf(query))];
      const { status, body } = await post('/v1/rag_retrieval', { text: query, embedding: numbers });
      expect(status).toBe(200);
      const docs = body['retrieved_docs'] as string[];
      expect(docs[0]).toBe(texts[0]);
      expect(body).toEqual({
        retrieved_docs: docs,
        initial_query: query,
        json_encoders: docs.map((text) => ({ text })),
      });
      const echoed = await post('/v1/rag_retrieval', { text: query, json_encoders: [{ text: 'mine' }] });
      expect(echoed.body['json_encoders']).toEqual([{ text: 'mine' }]);
    });

    it("answers in the reference's shape, asking for the embedding itself", async () => {
      const { status, body } = await post('/v1/retrieval', {
        input: 'Which kettle boils water for tea?',
        search_type: 'similarity',
        k: 1,
        distance_threshold: null,
      });
      expect(status).toBe(200);
      expect(body).toEqual({
        retrieved_docs: [
          { id: expect.any(String), text: texts[2], score: expect.any(Number), metadata: expect.any(Object) },
        ],
        initial_query: 'Which kettle boils water for tea?',
        search_type: 'similarity',
      });
    });

    it.each([
      ['the same width', 384],
      ['another width', 2],
    ])('searches words where the vectors are of another model of %s, and says so', async (_what, width) => {
      const collection = `width-${width}`;
      const vector = Float32Array.from({ length: width }, (_unused, index) => (index === 0 ? 1 : 0));
      const facts = { contentHash: 'x', mimeType: 'text/plain', bytes: 9, collection };
      const documents = new DocumentsRepository(database);
      await documents.replaceDocument({ ...facts, filename: 'old.txt', embeddingModel: 'old-model@1' }, [
        { text: 'The blue lamp is in the cellar.', embedding: vector, metadata: {} },
      ]);
      const { id, revision } = await client.request(describeEmbeddingModel, {});
      const lamp = 'A lamp of the served model.';
      await documents.replaceDocument(
        { ...facts, filename: 'new.txt', embeddingModel: `${id}@${revision}` },
        [{ text: lamp, embedding: await vectorOf(lamp), metadata: {} }],
      );
      const response = await fetch(`${service.url}/v1/retrieval`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ text: 'Where is the blue lamp?', search_type: 'similarity', collection }),
      });
      expect(response.headers.get('x-meganest-degraded')).toBe('retrieval');
      const body = (await response.json()) as { retrieved_docs: { text: string }[]; search_type: string };
      expect(body.search_type).toBe('lexical');
      expect(body.retrieved_docs.map(({ text }) => text)).toEqual(['The blue lamp is in the cellar.', lamp]);
      const health = async () => (await fetch(`${service.url}/v1/health_check`)).json();
      await expect.poll(health).toMatchObject({
        status: 'healthy',
        warnings: [expect.stringMatching(new RegExp(`of .*${collection}.* have vectors of old-model@1`))],
      });
      await documents.deleteAll(collection);
      await expect.poll(health).not.toHaveProperty('warnings');
    });

    it.each([
      [{}, 'text'],
      [{ text: 'x', k: 0 }, 'k'],
      [{ text: 'x', search_type: 'magic' }, 'search_type'],
      [{ text: 'x', embedding: [1, 2, 3] }, 'embedding'],
      [{ text: 'x', embedding: 'abc' }, 'embedding'],
      [{ text: 'x', search_type: 'similarity_distance_threshold' }, 'distance_threshold'],
    ])('refuses %j at its field', async (body, param) => {
      const answer = await post('/v1/retrieval', body);
      expect(answer.status).toBe(400);
      expect(answer.body).toMatchObject({ error: { param, type: 'invalid_request_error' } });
    });

    it('names the service that is away', async () => {
      await embedding.stop();
      const answer = await post('/v1/retrieval', { text: 'boiling water' });
      expect(answer.status).toBe(503);
      expect(answer.body).toMatchObject({ error: { code: 'service_unavailable' } });
      expect(JSON.stringify(answer.body)).toContain('embedding');
      expect((await post('/v1/retrieval', { text: 'flour', search_type: 'lexical' })).status).toBe(200);
      await postgres.stop();
      const health = async () => {
        const answer = await fetch(`${service.url}/v1/health_check`);
        return `${answer.status} ${await answer.text()}`;
      };
      // A report is as old as a second.
      await expect.poll(health).toMatch(/^503 .*postgres/);
      const lost = await post('/v1/retrieval', { text: 'flour', search_type: 'lexical' });
      expect(lost.status).toBe(503);
      expect(JSON.stringify(lost.body)).toContain('postgres');
    });
  });
});
