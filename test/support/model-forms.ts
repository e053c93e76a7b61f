import { loadEmbedder, loadReranker } from '#engine/encoders';
import { compileDecoder } from '#engine/onnx-compiler';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { InferenceSession } from 'onnxruntime-node';
import { z } from 'zod';
import { GreedyDriver } from '../../libs/engine/onnx-compiler/src/decoder/greedy-driver.fixture.js';

const vectors = z.array(z.array(z.number()));
/** What the library that wrote a model computes of it (test/real-models/write_forms.py). */
const referenceSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('embedding'),
    texts: z.array(z.string()),
    vectors: z.object({ other: vectors, query: vectors, document: vectors }),
  }),
  z.object({
    kind: z.literal('reranking'),
    pairs: z.array(z.tuple([z.string(), z.string()])),
    scores: z.array(z.number()),
  }),
  z.object({ kind: z.literal('decoder'), ids: z.array(z.int()), logits: z.array(z.number()) }),
]);
type Reference<Kind> = Extract<z.infer<typeof referenceSchema>, { kind: Kind }>;

/** The largest difference between what a model folder gives here with fp32 weights and its reference.json. */
export async function largestDifference(folder: string, cacheDirectory: string): Promise<number> {
  const reference = referenceSchema.parse(JSON.parse(await readFile(join(folder, 'reference.json'), 'utf8')));
  const [actual, expected] = await resultsOf(reference, folder, cacheDirectory);
  if (actual.length !== expected.length) return Infinity;
  return actual.reduce((most, value, index) => Math.max(most, Math.abs(value - expected[index]!)), 0);
}

function resultsOf(reference: Reference<string>, folder: string, cacheDirectory: string) {
  if (reference.kind === 'embedding') return embed(reference, folder, cacheDirectory);
  if (reference.kind === 'reranking') return rerank(reference, folder, cacheDirectory);
  return decode(reference, folder, cacheDirectory);
}

type Results = [actual: number[], expected: number[]];

async function embed(
  { texts, vectors }: Reference<'embedding'>,
  folder: string,
  cacheDirectory: string,
): Promise<Results> {
  const options = { workers: 1, compiledWeights: 'fp32', engine: 'compiled', cacheDirectory } as const;
  const embedder = await loadEmbedder(folder, options);
  const actual: number[] = [];
  for (const inputType of [undefined, 'query', 'document'] as const) {
    const result = await embedder.embed(texts, { inputType });
    actual.push(...result.vectors.flatMap((vector) => [...vector]));
  }
  await embedder.close();
  return [actual, [vectors.other, vectors.query, vectors.document].flat(2)];
}

async function rerank(
  { pairs, scores }: Reference<'reranking'>,
  folder: string,
  cacheDirectory: string,
): Promise<Results> {
  const options = { workers: 1, compiledWeights: 'fp32', engine: 'compiled', cacheDirectory } as const;
  const reranker = await loadReranker(folder, options);
  const results = await Promise.all(pairs.map(([query, passage]) => reranker.rerank(query, [passage])));
  await reranker.close();
  return [results.flatMap((result) => result.scores), scores];
}

async function decode(
  { ids, logits }: Reference<'decoder'>,
  folder: string,
  cacheDir: string,
): Promise<Results> {
  const model = await compileDecoder(folder, { cacheDir, weights: 'fp32', kv: 'float' });
  const session = await InferenceSession.create(model.onnxPath, { intraOpNumThreads: 1 });
  const driver = new GreedyDriver(session, model, 1, 64);
  const [row] = await driver.step({ tokens: [ids], wanted: [[ids.length - 1]] });
  await session.release();
  return [[...row!], logits];
}
