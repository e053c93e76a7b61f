import { describeRerankingModel, healthMethod, rerank } from '#platform/contracts';
import { RpcClient } from '#platform/messaging';
import type { TestService } from '#platform/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startServiceWithClient, type ServiceWithClient } from '../../support/service-with-client.js';

const query = 'How long does tea have to steep?';
const passages = [
  'The kettle stands on the second shelf beside the window.',
  'Green tea has to steep for three minutes in hot water.',
  'Coffee is ground before it is brewed.',
];

describe('the reranking service', () => {
  let running: ServiceWithClient;
  let service: TestService;
  let client: RpcClient;

  beforeAll(async () => {
    running = await startServiceWithClient('reranking');
    ({ service, client } = running);
  });

  afterAll(() => running?.stop());

  async function post(path: string, body: unknown) {
    const response = await fetch(`${service.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return { status: response.status, body: (await response.json()) as never };
  }

  describe('over NATS', () => {
    it('puts the passage that answers first', async () => {
      const reply = await client.request(rerank, { query, texts: passages, fusion: 'none', top_n: 2 });
      expect(reply.results).toHaveLength(2);
      expect(reply.results[0]?.index).toBe(1);
      expect(reply.results[0]!.score).toBeGreaterThan(reply.results[1]!.score);
      expect(reply.promptTokens).toBeGreaterThan(0);
    });

    it('fuses with the order of the request where it is asked to', async () => {
      const { results } = await client.request(rerank, { query, texts: passages, fusion: 'rrf', top_n: 3 });
      // The profile's constant 10 and weight 1: what is second in the request and first with the model gets this.
      const second = results.find(({ index }) => index === 1);
      expect(second?.score).toBeCloseTo(1 / 12 + 1 / 11, 10);
      expect(results.map(({ score }) => score)).toEqual(
        results.map(({ score }) => score).toSorted((a, b) => b - a),
      );
    });

    it('fuses with the scores of the search, as the profile says', async () => {
      // Neither passage is about the question, so the search decides; its scores may have any scale.
      const texts = [passages[0]!, passages[2]!, passages[1]!];
      const order = async (scores: number[]) =>
        (await client.request(rerank, { query, texts, scores, top_n: 3 })).results.map(({ index }) => index);
      expect(await order([0.2, 0.9, 0.5])).toEqual([2, 1, 0]);
      expect(await order([900, 200, 500])).toEqual([2, 0, 1]);
      expect(await order([1, 1, 1])).toEqual(
        (await client.request(rerank, { query, texts, fusion: 'none', top_n: 3 })).results.map(
          ({ index }) => index,
        ),
      );
    });

    it.each([
      ['are missing', undefined],
      ['are too few', [0.5]],
    ])('refuses to fuse scores that %s', async (_, scores) => {
      const request = { query, texts: passages, scores, fusion: 'scores' as const };
      await expect(client.request(rerank, request)).rejects.toMatchObject({
        code: 'invalid_request',
        param: 'scores',
      });
    });

    it('has nothing to say about no passages', async () => {
      expect((await client.request(rerank, { query, texts: [] })).results).toEqual([]);
    });

    it('describes its model and its health', async () => {
      const model = await client.request(describeRerankingModel, {});
      const health = await client.request(healthMethod('reranking'), {});
      expect(health).toMatchObject({ healthy: true, dependencies: [{ name: 'model', detail: model.id }] });
    });

    it('refuses a model that it does not serve', async () => {
      await expect(client.request(rerank, { query, texts: passages, model: 'other' })).rejects.toMatchObject({
        code: 'model_not_found',
        param: 'model',
        message: expect.stringContaining('nano-rerank'),
      });
    });
  });

  describe('over HTTP', () => {
    it("answers the specification's request in its shape", async () => {
      const request = {
        initial_query: query,
        retrieved_docs: passages,
        json_encoders: [0.5],
        fusion: 'none',
      };
      expect(await post('/v1/rag_reranking', { ...request, top_n: 1 })).toEqual({
        status: 200,
        body: { query, doc: [{ text: passages[1] }], json_encoders: [0.5] },
      });
    });

    it("answers the reference's request with both of its shapes", async () => {
      const retrieved_docs = passages.map((text, index) => ({ id: `d${index}`, text, metadata: { index } }));
      const { status, body } = await post('/v1/reranking', { input: query, retrieved_docs, top_n: 1 });
      expect(status).toBe(200);
      expect(body).toMatchObject({
        query,
        documents: [passages[1]],
        reranked_docs: [{ ...retrieved_docs[1], score: expect.any(Number) }],
      });
    });

    it('fuses the scores of documents where it is asked to', async () => {
      const [kettle, tea, coffee] = passages;
      const retrieved_docs = [
        { text: kettle, score: 1 },
        { text: coffee, score: 90 },
        { text: tea, score: 5 },
      ];
      const body = { input: query, retrieved_docs, top_n: 3 };
      const fused = await post('/v1/reranking', { ...body, fusion: 'scores' });
      expect(fused.body).toMatchObject({ documents: [tea, coffee, kettle] });
      const missing = await post('/v1/reranking', { ...body, retrieved_docs: passages, fusion: 'scores' });
      expect(missing).toMatchObject({ status: 400, body: { error: { param: 'scores' } } });
    });

    it("answers TEI's request with a bare list", async () => {
      const plain = await post('/rerank', { query, texts: passages });
      expect(plain.status).toBe(200);
      const list = plain.body as { index: number; score: number }[];
      expect(list.map(({ index }) => index).toSorted((a, b) => a - b)).toEqual([0, 1, 2]);
      expect(list[0]).toEqual({ index: 1, score: expect.any(Number) });

      const raw = await post('/rerank', { query, texts: passages, raw_scores: true, return_text: true });
      const [best] = raw.body as { index: number; score: number; text: string }[];
      expect(best?.text).toBe(passages[1]);
      // The sigmoid of the logit is the score; Float32 on the way costs a little.
      expect(1 / (1 + Math.exp(-best!.score))).toBeCloseTo(list[0]!.score, 6);
    });

    it.each(['/rerank', '/v1/rerank', '/v2/rerank'])(
      "answers Jina's and Cohere's request on %s",
      async (path) => {
        const { status, body } = await post(path, {
          model: 'nano-rerank',
          query,
          documents: passages,
          top_n: 2,
        });
        expect(status).toBe(200);
        expect(body).toMatchObject({
          model: 'nano-rerank',
          results: [{ index: 1, relevance_score: expect.any(Number), document: { text: passages[1] } }, {}],
          usage: { total_tokens: expect.any(Number) },
        });
      },
    );

    it.each([
      ['/v1/rag_reranking', { retrieved_docs: ['a'] }, 'initial_query'],
      ['/v1/rag_reranking', { initial_query: query, retrieved_docs: [1] }, 'retrieved_docs[0]'],
      ['/v1/reranking', { retrieved_docs: ['a'] }, 'initial_query'],
      ['/v1/reranking', { input: query, retrieved_docs: ['a'], top_n: 0 }, 'top_n'],
      ['/rerank', { query }, 'texts'],
      ['/rerank', { query, texts: ['a'], truncate: 'perhaps' }, 'truncate'],
      ['/rerank', { documents: ['a'] }, 'query'],
      ['/v1/rerank', { query, documents: ['a'], top_n: -1 }, 'top_n'],
    ])('%s names the field of %j', async (path, request, param) => {
      const { status, body } = await post(path, request);
      expect(status).toBe(400);
      expect(body).toMatchObject({ error: { code: 'invalid_request', param } });
    });

    it("refuses passages that are too long where TEI's request wants none cut", async () => {
      const texts = ['a short one', 'word '.repeat(5_000)];
      const refused = await post('/rerank', { query, texts, truncate: false });
      expect(refused).toMatchObject({
        status: 400,
        body: { error: { code: 'context_length_exceeded', param: 'texts[1]' } },
      });
      expect((await post('/rerank', { query, texts, truncate: true })).status).toBe(200);
      expect((await post('/rerank', { query, texts })).status).toBe(200);
    });

    it('tells its latencies', async () => {
      const response = await fetch(`${service.url}/v1/statistics`);
      const statistics = (await response.json()) as Record<string, { count: number }>;
      expect(statistics['opea_service@reranking/rerank']?.count).toBeGreaterThan(0);
    });
  });
});
