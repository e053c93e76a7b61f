/**
 * Compares embedding at concurrency 32 with the feature-extraction pipeline of transformers.js, with the same weights.
 */
import { pipeline } from '@xenova/transformers';
import { loadEmbedder } from '#engine/encoders';
import { interleave, type Contender } from '../harness/interleave.js';
import { resultTable, table, targetHead, targetRow } from '../harness/markdown.js';
import type { Subject } from '../harness/subject.js';
import { benchFolder, bundledModel, exportersOwnGraph, forTransformersJs } from './models.js';
import { atOnce, textSets } from './texts.js';

const concurrency = 32;
const ours = 'ours, int8 by row (default)';
const peers = {
  int8: 'transformers.js int8',
  fp32: 'transformers.js fp32',
  q8: "transformers.js q8, another exporter's file",
} as const;

async function transformersJs(weights: keyof typeof peers, threads: number) {
  const own = weights === 'q8' ? await exportersOwnGraph('nano-embed') : undefined;
  if (weights === 'q8' && own === undefined) return undefined;
  const name =
    own ?? (await forTransformersJs(bundledModel('nano-embed'), weights === 'fp32' ? 'fp32' : 'int8'));
  const extract = await pipeline('feature-extraction', name, {
    dtype: weights === 'q8' ? 'q8' : 'fp32',
    session_options: { intraOpNumThreads: threads },
  });
  return {
    name: peers[weights],
    embed: (text: string) => extract(text, { pooling: 'mean', normalize: true }),
  };
}

export const subject: Subject = {
  async run({ threads, rounds }) {
    const options = { workers: threads, cacheDirectory: benchFolder, engine: 'compiled' } as const;
    const folder = bundledModel('nano-embed');
    const embedders = {
      [ours]: await loadEmbedder(folder, options),
      'ours, int8 by tensor': await loadEmbedder(folder, { ...options, activations: 'tensor' }),
      'ours, fp32': await loadEmbedder(folder, { ...options, compiledWeights: 'fp32' }),
    };
    const found = [];
    for (const weights of ['int8', 'fp32', 'q8'] as const) found.push(await transformersJs(weights, threads));
    const others = found.filter((peer) => peer !== undefined);
    const sections: string[] = [];
    const targets: string[][] = [];
    for (const [title, texts] of Object.entries(textSets)) {
      const contenders: Contender[] = [
        ...Object.entries(embedders).map(([name, embedder]) => ({
          name,
          run: () => atOnce(texts, concurrency, (text) => embedder.embed([text])),
        })),
        ...others.map(({ name, embed }) => ({ name, run: () => atOnce(texts, concurrency, embed) })),
      ];
      const results = await interleave(contenders, rounds);
      sections.push(`### ${title}\n\n${resultTable('texts', results, peers.int8)}`);
      const wanted = title.startsWith('short') ? '≥ 3' : '≥ 2';
      for (const peer of [peers.q8, peers.int8]) {
        targets.push(targetRow(`${title}, against ${peer}`, wanted, results, [ours, peer]));
      }
      targets.push(targetRow(`${title}, against ${peers.fp32}`, '≥ 5', results, [ours, peers.fp32]));
    }
    for (const embedder of Object.values(embedders)) await embedder.close();
    return ['## Embedding', introduction, ...sections, table(targetHead, targets)].join('\n\n');
  },
};

const introduction = `nano-embed, ${concurrency} requests of one text at a time; the peer answers one after the other, as its session does. It gets
the same weights in graphs that this project exports, and, where the test data have it, in the file of another exporter,
which the targets are about.`;
