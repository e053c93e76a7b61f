/** Compares reranking of 20 passages, with four concurrent queries, with a sequence classifier of transformers.js. */
import { AutoModelForSequenceClassification, AutoTokenizer } from '@xenova/transformers';
import { loadReranker } from '#engine/encoders';
import { interleave } from '../harness/interleave.js';
import { resultTable, table, targetHead, targetRow } from '../harness/markdown.js';
import type { Subject } from '../harness/subject.js';
import { benchFolder, bundledModel, forTransformersJs } from './models.js';
import { atOnce, words } from './texts.js';

const passages = 20;
const requests = Array.from({ length: 8 }, (_unused, seed) => ({
  query: words(seed, 9),
  texts: Array.from({ length: passages }, (_text, index) =>
    words(seed * passages + index, 15 + ((index * 17) % 60)),
  ),
}));
type Request = (typeof requests)[number];

const ours = 'ours, int8 (default)';

async function transformersJs(
  weights: 'fp32' | 'int8',
  threads: number,
): Promise<(request: Request) => Promise<void>> {
  const name = await forTransformersJs(bundledModel('nano-rerank'), weights);
  const tokenizer = await AutoTokenizer.from_pretrained(name);
  const model = await AutoModelForSequenceClassification.from_pretrained(name, {
    dtype: 'fp32',
    session_options: { intraOpNumThreads: threads },
  });
  return async ({ query, texts }) => {
    const queries = texts.map(() => query);
    await model(tokenizer(queries, { text_pair: [...texts], padding: true, truncation: true }));
  };
}

export const subject: Subject = {
  async run({ threads, rounds }) {
    const options = { workers: threads, cacheDirectory: benchFolder, engine: 'compiled' } as const;
    const reranker = await loadReranker(bundledModel('nano-rerank'), options);
    const [int8, fp32] = [await transformersJs('int8', threads), await transformersJs('fp32', threads)];
    const all = async (work: (request: Request) => Promise<unknown>) =>
      (await atOnce(requests, 4, work)) * passages;
    const results = await interleave(
      [
        { name: ours, run: () => all(({ query, texts }) => reranker.rerank(query, texts)) },
        { name: 'transformers.js int8', run: () => all(int8) },
        { name: 'transformers.js fp32', run: () => all(fp32) },
      ],
      rounds,
    );
    await reranker.close();
    const targets = ['int8', 'fp32'].map((weights) =>
      targetRow(`against transformers.js ${weights}`, 'none set', results, [
        ours,
        `transformers.js ${weights}`,
      ]),
    );
    const tables = [resultTable('pairs', results, 'transformers.js int8'), table(targetHead, targets)];
    return ['## Reranking', introduction, ...tables].join('\n\n');
  },
};

const introduction = `nano-rerank, queries with ${passages} passages of 15 to 74 words each, four queries at a time; the peer gets the passages of a
query as one padded batch.`;
