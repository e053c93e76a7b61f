import { startNats, startService, type TestNats, type TestService } from '#platform/testing';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

interface EmbeddingBody {
  object: string;
  data: { object: string; index: number; embedding: number[] | string }[];
  model: string;
  usage: { prompt_tokens: number; total_tokens: number };
}

let nats: TestNats;
let service: TestService;

beforeAll(async () => {
  nats = await startNats();
  service = await startService('embedding', { NATS_URL: nats.url });
});
afterAll(async () => {
  await service?.stop();
  await nats?.stop();
});

async function post(path: string, body: unknown): Promise<{ status: number; body: unknown }> {
  const answer = await request(`${service.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: answer.statusCode, body: await answer.body.json() };
}

function lengthOf(vector: readonly number[]): number {
  return Math.hypot(...vector);
}

describe("the embedding service on the specification's path", () => {
  it('answers one text', async () => {
    const { status, body } = await post('/v1/embeddings', { input: 'a text', model: 'nano-embed' });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      object: 'list',
      model: 'nano-embed',
      data: [{ object: 'embedding', index: 0 }],
    });
    const { data, usage } = body as EmbeddingBody;
    expect(data[0]?.embedding).toHaveLength(384);
    expect(usage.prompt_tokens).toBeGreaterThan(0);
    expect(usage.total_tokens).toBe(usage.prompt_tokens);
  });

  it('answers several texts in their order, and each as it does alone', async () => {
    const inputs = ['first', 'the second text is somewhat longer than the first one', 'third'];
    const together = (await post('/v1/embeddings', { input: inputs })).body as EmbeddingBody;
    expect(together.data.map(({ index }) => index)).toEqual([0, 1, 2]);
    const alone = (await post('/v1/embeddings', { input: inputs[1] })).body as EmbeddingBody;
    const pair = [together.data[1]?.embedding, alone.data[0]?.embedding] as [number[], number[]];
    // Padding of the batch may change the last bits of a float.
    pair[0].forEach((value, dimension) => expect(value).toBeCloseTo(pair[1][dimension] ?? NaN, 4));
  });

  it('takes token arrays', async () => {
    const { body } = await post('/v1/embeddings', { input: [[5, 6, 7], [8]] });
    expect((body as EmbeddingBody).data).toHaveLength(2);
  });

  it('cuts vectors to the dimensions that are asked for, at unit length', async () => {
    const { body } = await post('/v1/embeddings', { input: 'a text', dimensions: 64 });
    const vector = (body as EmbeddingBody).data[0]?.embedding as number[];
    expect(vector).toHaveLength(64);
    expect(lengthOf(vector)).toBeCloseTo(1, 4);
  });

  it("takes the reference's older body", async () => {
    const { body } = await post('/v1/embeddings', { text: 'a text' });
    expect((body as EmbeddingBody).data[0]?.embedding).toHaveLength(384);
  });

  it.each([
    [{}, 400, 'input'],
    [{ input: '' }, 400, 'input'],
    [{ input: ['a', ''] }, 400, 'input[1]'],
    [{ input: 'a', encoding_format: 'hex' }, 400, 'encoding_format'],
    [{ input: 'a', dimensions: 4096 }, 400, 'dimensions'],
    [{ input: 'word '.repeat(2_000) }, 400, 'input[0]'],
  ])('names the field that is wrong in %j', async (payload, status, param) => {
    expect(await post('/v1/embeddings', payload)).toMatchObject({ status, body: { error: { param } } });
  });
});

describe("Text Embeddings Inference's path", () => {
  it('answers bare vectors', async () => {
    const { status, body } = await post('/embed', { inputs: ['one', 'two'] });
    expect(status).toBe(200);
    expect((body as number[][]).map((vector) => vector.length)).toEqual([384, 384]);
  });

  it('takes as many texts as the other paths do', async () => {
    const inputs = Array.from({ length: 2_049 }, () => 'a');
    expect(await post('/embed', { inputs })).toMatchObject({
      status: 400,
      body: { error: { param: 'inputs' } },
    });
  });

  it('cuts what is too long where that is asked for', async () => {
    const inputs = 'word '.repeat(2_000);
    expect((await post('/embed', { inputs, truncate: true })).status).toBe(200);
    expect((await post('/embed', { inputs })).status).toBe(400);
  });
});
