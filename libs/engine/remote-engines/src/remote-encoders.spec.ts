import { afterEach, describe, expect, it } from 'vitest';
import { sendJson, startEngine, type Answer, type TestEngine } from './engine.fixture.js';
import { openRemoteClassifier, openRemoteEmbedder, openRemoteReranker } from './remote-encoders.js';

const info: Answer = (response) =>
  sendJson(response, {
    model_id: 'BAAI/bge',
    model_sha: '0123456789abcdef',
    max_input_length: 512,
    max_client_batch_size: 2,
  });

/** The vector of a text: its length and 1. */
const embed: Answer = (response, { body }) => {
  const vectors = (body['inputs'] as (string | number[])[]).map((input) => [input.length, 1]);
  sendJson(response, vectors, 200, { 'x-compute-tokens': String(vectors.length) });
};

/** The score of a text: its length. Best first, as TEI does. */
const rerank: Answer = (response, { body }) => {
  const ranks = (body['texts'] as string[]).map((text, index) => ({ index, score: text.length }));
  sendJson(
    response,
    ranks.toSorted((a, b) => b.score - a.score),
    200,
    { 'x-compute-tokens': '5' },
  );
};

const classifierInfo: Answer = (response) =>
  sendJson(response, {
    model_id: 'unitary/toxic-bert',
    model_sha: '0123456789abcdef',
    max_input_length: 8,
    max_client_batch_size: 2,
    model_type: { classifier: { id2label: { '0': 'fine', '1': 'toxic' }, label2id: { fine: 0, toxic: 1 } } },
  });

/** A text is toxic by the share of its letters that are "x". Best first, as TEI does. */
const predict: Answer = (response, { body }) => {
  const predictions = (body['inputs'] as [string][]).map(([text]) => {
    const toxic = text.replaceAll(/[^x]/g, '').length / text.length;
    const both = [
      { label: 'fine', score: 1 - toxic },
      { label: 'toxic', score: toxic },
    ];
    return both.toSorted((a, b) => b.score - a.score);
  });
  sendJson(response, predictions, 200, { 'x-compute-tokens': '4' });
};

describe('engines of Text Embeddings Inference', () => {
  let engine: TestEngine | undefined;
  afterEach(async () => {
    await engine?.close();
  });

  async function start(answers: Record<string, Answer>) {
    engine = await startEngine({ '/info': info, ...answers });
    return { endpoint: engine.url };
  }

  it('embed texts and tokens in batches that the server takes', async () => {
    const embedder = await openRemoteEmbedder(await start({ '/embed': embed }));
    expect(embedder.info).toMatchObject({
      id: 'BAAI/bge',
      revision: '0123456789ab',
      dimensions: 2,
      maxInputTokens: 512,
    });
    const { vectors, promptTokens } = await embedder.embed(['a', 'bb', 'ccc'], { truncate: true });
    expect(vectors.map((vector) => [...vector])).toEqual([
      [1, 1],
      [2, 1],
      [3, 1],
    ]);
    expect(promptTokens).toBe(3);
    expect(engine?.requests.slice(-2).map(({ body }) => body)).toEqual([
      { inputs: ['a', 'bb'], truncate: true, normalize: true },
      { inputs: ['ccc'], truncate: true, normalize: true },
    ]);
    expect((await embedder.embed([[1, 2, 3, 4]])).vectors).toEqual([Float32Array.of(4, 1)]);
  });

  it('rerank in the order of the passages', async () => {
    const reranker = await openRemoteReranker(await start({ '/rerank': rerank }));
    expect(await reranker.rerank('q', ['a', 'bbb', 'cc'])).toEqual({ scores: [1, 3, 2], promptTokens: 10 });
    expect(await reranker.rerank('q', [])).toEqual({ scores: [], promptTokens: 0 });
    expect(engine?.requests.at(-1)?.body).toEqual({
      query: 'q',
      texts: ['cc'],
      truncate: true,
      raw_scores: false,
    });
  });

  it('rerank without cutting where that is asked for, and tell what they refuse', async () => {
    const tooLong: Answer = (response) =>
      sendJson(response, { error: 'Input must have less than 512 tokens', error_type: 'Validation' }, 413);
    const reranker = await openRemoteReranker(await start({ '/rerank': tooLong }));
    await expect(reranker.rerank('q', ['a'], { truncate: false })).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining('less than 512 tokens') as string,
    });
    expect(engine?.requests.at(-1)?.body).toMatchObject({ texts: ['a'], truncate: false });
  });

  it('classify, a long text in pieces', async () => {
    const classifier = await openRemoteClassifier(
      await start({ '/info': classifierInfo, '/predict': predict }),
    );
    expect(classifier).toMatchObject({ info: { id: 'unitary/toxic-bert' }, labels: ['fine', 'toxic'] });
    // Pieces of 24 characters, of which 3 are shared.
    const { scores, promptTokens } = await classifier.classify([
      'axxx',
      'b',
      `${'c'.repeat(24)}${'x'.repeat(21)}`,
    ]);
    expect(scores).toEqual([
      [
        { label: 'fine', score: 0.25 },
        { label: 'toxic', score: 0.75 },
      ],
      [
        { label: 'fine', score: 1 },
        { label: 'toxic', score: 0 },
      ],
      [
        { label: 'fine', score: 1 },
        { label: 'toxic', score: 21 / 24 },
      ],
    ]);
    expect(promptTokens).toBe(8);
    expect(engine?.requests.at(-1)?.body).toMatchObject({ truncate: false, raw_scores: false });
  });

  it('classify all of a text of many tokens, in halves of what the engine refuses', async () => {
    const asked: string[] = [];
    let most = 7;
    const predictShort: Answer = (response, request) => {
      const inputs = (request.body['inputs'] as [string][]).map(([text]) => text);
      if (inputs.some((text) => text.length > most || /\p{Surrogate}/u.test(text)))
        return sendJson(response, { error: 'too many tokens', error_type: 'Validation' }, 413);
      asked.push(...inputs);
      return predict(response, request);
    };
    const classifier = await openRemoteClassifier(
      await start({ '/info': classifierInfo, '/predict': predictShort }),
    );
    // At the end of its piece, which an engine that truncates leaves out; its last part has 5 characters.
    const { scores } = await classifier.classify([`${'中'.repeat(20)}xxxx`, 'x', '😀'.repeat(9)]);
    expect(scores.map(([, toxic]) => toxic!.score)).toEqual([4 / 5, 1, 0]);
    expect(asked.every((text) => text.length <= 7)).toBe(true);
    expect(asked.filter((text) => text === 'x')).toHaveLength(1);
    expect(asked.join('')).toContain('😀');
    most = 2;
    await expect(classifier.classify(['中文中文'])).rejects.toMatchObject({
      code: 'bad_upstream',
      message: expect.stringContaining('too many tokens'),
    });
  });

  it('do not classify with a model that has no labels', async () => {
    await expect(openRemoteClassifier(await start({}))).rejects.toMatchObject({
      code: 'bad_upstream',
      message: expect.stringContaining('not a classifier'),
    });
  });

  it('pass on what the server refuses', async () => {
    let refused = false;
    const embedder = await openRemoteEmbedder(
      await start({
        '/embed': (response, request) => {
          if (refused)
            sendJson(
              response,
              { error: 'inputs must have less than 512 tokens', error_type: 'Validation' },
              413,
            );
          else return embed(response, request);
        },
      }),
    );
    refused = true;
    await expect(embedder.embed(['long'])).rejects.toMatchObject({
      code: 'context_length_exceeded',
      message: expect.stringContaining('512'),
    });
  });

  it('say so when the server sends too little, or is no such server', async () => {
    const few = await start({ '/embed': (response) => sendJson(response, []) });
    await expect(openRemoteEmbedder(few)).rejects.toMatchObject({
      code: 'bad_upstream',
      service: 'embedding',
    });
    await expect(openRemoteReranker({ endpoint: `${few.endpoint}/elsewhere` })).rejects.toMatchObject({
      code: 'bad_upstream',
      message: expect.stringContaining('404'),
    });
    await expect(openRemoteReranker({ endpoint: 'http://127.0.0.1:1' })).rejects.toMatchObject({
      code: 'service_unavailable',
    });
  });
});
