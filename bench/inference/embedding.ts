/**
 * Embedding at concurrency 32: ours against the feature-extraction pipeline of transformers.js, same weights, equal
 * threads. Run: `npm run build && node dist/bench/inference/embedding.js [model folder] [threads]`.
 * The folder must hold safetensors and `onnx/model_quantized.onnx`.
 */
import path from 'node:path';
import { env, pipeline } from '@xenova/transformers';
import { loadEmbedder, type Embedder } from '#inference';
import { interleave, printTable, type Contender } from './interleave.js';

const folder = path.resolve(process.argv[2] ?? '../shared/models/nano-embed');
const threads = Number(process.argv[3] ?? 2);
const concurrency = 32;

const vocabulary =
  'a stream of messages is replicated across several nodes and durable consumers acknowledge every one that they have stored'.split(
    ' ',
  );
const text = (seed: number, words: number) =>
  Array.from(
    { length: words },
    (_unused, index) => vocabulary[(seed * 7 + index * 3) % vocabulary.length],
  ).join(' ');
const inputs = {
  'short texts, 12 words': Array.from({ length: 256 }, (_unused, index) => text(index, 12)),
  'mixed texts, 8 to 80 words': Array.from({ length: 128 }, (_unused, index) =>
    text(index, 8 + ((index * 37) % 73)),
  ),
};

async function embedAll(
  texts: readonly string[],
  embed: (text: string) => Promise<unknown>,
): Promise<number> {
  const waiting = [...texts];
  const worker = async () => {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) await embed(next);
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  return texts.length;
}

const options = { workers: threads, cacheDirectory: path.join('.data', 'bench') };
const embedders: Record<string, Embedder> = {
  'compiled int8, by row (default)': await loadEmbedder(folder, { ...options, engine: 'compiled' }),
  'compiled int8, by tensor': await loadEmbedder(folder, {
    ...options,
    engine: 'compiled',
    activations: 'tensor',
  }),
  'compiled fp32': await loadEmbedder(folder, { ...options, engine: 'compiled', compiledWeights: 'fp32' }),
  "exporter's graph": await loadEmbedder(folder, { ...options, engine: 'exporter' }),
};
env.localModelPath = `${path.dirname(folder)}/`;
env.allowRemoteModels = false;
const extract = await pipeline('feature-extraction', path.basename(folder), {
  dtype: 'q8',
  session_options: { intraOpNumThreads: threads },
});

for (const [title, texts] of Object.entries(inputs)) {
  const contenders: Contender[] = Object.entries(embedders).map(([name, embedder]) => ({
    name,
    run: () => embedAll(texts, (input) => embedder.embed([input])),
  }));
  const peer = (input: string) => extract(input, { pooling: 'mean', normalize: true });
  contenders.push({ name: 'transformers.js q8', run: () => embedAll(texts, peer) });
  printTable(`Embedding, ${title}, ${threads} threads`, 'texts', await interleave(contenders, 5));
}
for (const embedder of Object.values(embedders)) await embedder.close();
