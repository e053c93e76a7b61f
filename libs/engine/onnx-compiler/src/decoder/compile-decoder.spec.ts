import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { InferenceSession, Tensor } from 'onnxruntime-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testData } from '#platform/foundation';
import { type CompiledDecoder, compileDecoder } from './compile-decoder.js';
import { GreedyDriver, decodeGreedily, largest } from './greedy-driver.fixture.js';

const published = testData('models/tinystories-656k');
if (!existsSync(published))
  console.warn(`${published} is absent: the comparison with its export is skipped.`);

const int64 = (values: readonly number[]): Tensor =>
  new Tensor('int64', BigInt64Array.from(values, BigInt), [1, values.length]);
const emptyPast = (): Tensor => new Tensor('float32', new Float32Array(0), [2, 1, 4, 0, 16]);

/** Runs the publisher's own fp32 export over a whole sequence without a past: logits of every position. */
async function exportedLogits(session: InferenceSession, tokens: readonly number[]): Promise<Float32Array[]> {
  const feeds = {
    input_ids: int64(tokens),
    position_ids: int64([...tokens.keys()]),
    past_key: emptyPast(),
    past_value: emptyPast(),
  };
  const data = (await session.run(feeds))['logits']!.data as Float32Array;
  return tokens.map((_, row) => data.slice(row * 2048, (row + 1) * 2048));
}

describe.skipIf(!existsSync(published))('compileDecoder on published weights', () => {
  let cacheDir: string;
  let model: CompiledDecoder;
  let session: InferenceSession;
  let exported: InferenceSession;
  const prompt = [1, 404, 85, 911, 17, 230, 1022, 64, 301, 5];

  beforeAll(async () => {
    cacheDir = await mkdtemp(join(tmpdir(), 'meganest-compiler-'));
    model = await compileDecoder(published, { cacheDir, weights: 'fp32', kv: 'float' });
    session = await InferenceSession.create(model.onnxPath, { intraOpNumThreads: 1 });
    exported = await InferenceSession.create(`${published}/onnx/model.onnx`, { intraOpNumThreads: 1 });
  });
  afterAll(() => rm(cacheDir, { recursive: true, force: true }));

  it('gives the logits of the published export within 1e-4, in one prefill and in chunks', async () => {
    const expected = await exportedLogits(exported, prompt);
    const whole = new GreedyDriver(session, model, 1, 128);
    const once = await whole.step({ tokens: [prompt], wanted: [[...prompt.keys()]] });
    const chunked = new GreedyDriver(session, model, 1, 128);
    const pieces: Float32Array[] = [];
    for (const chunk of [prompt.slice(0, 4), prompt.slice(4, 5), prompt.slice(5)])
      pieces.push(...(await chunked.step({ tokens: [chunk], wanted: [[...chunk.keys()]] })));
    for (const [position, logits] of expected.entries())
      for (const rows of [once, pieces])
        expect(largestDifference(rows[position]!, logits)).toBeLessThan(1e-4);
  });

  it('decodes the same greedy tokens as the export', async () => {
    const [answer] = await decodeGreedily(session, model, [prompt], 24);
    const tokens = [...prompt];
    for (let i = 0; i < 24; i++) tokens.push(largest((await exportedLogits(exported, tokens)).at(-1)!));
    expect(answer).toEqual(tokens.slice(prompt.length));
  });
});

function largestDifference(left: Float32Array, right: Float32Array): number {
  return left.reduce((worst, value, index) => Math.max(worst, Math.abs(value - right[index]!)), 0);
}
