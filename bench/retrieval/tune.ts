import { fuse, type ChunkHit, type FusionSettings, type HybridRankings } from '#platform/storage';
import type { Corpus } from './corpus.js';
import type { Question } from './datasets.js';
import { describeFusion, searchMethod } from './methods.js';
import { qualityOf } from './quality.js';
import { rankOf, type Row } from './report.js';

const widest = 40;
const triedWidths = [20, 40];
const triedFusions: FusionSettings[] = [
  ...[1, 5, 20, 60].flatMap((rankConstant) =>
    [1, 0.5, 0.25, 0.15].map((similarityWeight) => ({
      method: 'rrf' as const,
      similarityWeight,
      rankConstant,
    })),
  ),
  ...[2, 4, 6, 8, 10, 14].map((similarityWeight) => ({
    method: 'scores' as const,
    similarityWeight,
    rankConstant: 60,
  })),
];

/**
 * Quality of `hybrid` with each of the tried settings: both searches run once for each question, since fusion is cheap.
 */
export async function tuneHybrid(
  corpus: Corpus,
  questions: readonly Question[],
  vectors: readonly Float32Array[],
): Promise<Row[]> {
  const rankings: HybridRankings[] = [];
  const methods = {
    lexical: searchMethod('', 'lexical', { k: widest }),
    similar: searchMethod('', 'similarity', { k: widest }),
  };
  for (const [index, { text }] of questions.entries()) {
    const vector = vectors[index] ?? new Float32Array();
    const lexical = await methods.lexical.rank(corpus, text, vector);
    rankings.push({ lexical, similar: await methods.similar.rank(corpus, text, vector) });
  }
  const row = (method: string, rank: (both: HybridRankings) => readonly ChunkHit[]): Row => ({
    method,
    ...qualityOf(rankings.map((both, index) => rankOf(rank(both), questions[index]))),
  });
  const fused = triedWidths.flatMap((width) =>
    triedFusions.map((fusion) =>
      row(`${describeFusion(fusion)}, fetch_k ${width}`, ({ lexical, similar }) =>
        fuse({ lexical: lexical.slice(0, width), similar: similar.slice(0, width) }, fusion),
      ),
    ),
  );
  return [row('lexical', ({ lexical }) => lexical), row('similarity', ({ similar }) => similar), ...fused];
}
