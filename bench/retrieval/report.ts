import type { ChunkHit } from '#platform/storage';
import type { Question } from './datasets.js';
import type { Quality } from './quality.js';

/** One line of a table. */
export interface Row extends Quality {
  method: string;
  /** Time of one search, if searches were timed. */
  medianMs?: number;
}

/** Rank of the first hit of the right passage, from 1. */
export function rankOf(hits: readonly ChunkHit[], question: Question | undefined): number | undefined {
  const index = hits.findIndex(({ metadata }) => metadata['filename'] === String(question?.passage));
  return index < 0 ? undefined : index + 1;
}

const percent = (value: number) => (value * 100).toFixed(1);

/** A table in Markdown; the best value of each column is bold. */
export function formatTable(rows: readonly Row[]): string {
  const best = (pick: (row: Row) => string) =>
    rows.map(pick).reduce((left, right) => (Number(left) >= Number(right) ? left : right), '0');
  const columns = [
    (row: Row) => percent(row.recallAt1),
    (row: Row) => percent(row.recallAt5),
    (row: Row) => row.meanReciprocalRank.toFixed(3),
  ];
  const bests = columns.map(best);
  const lines = rows.map((row) => {
    const cells = columns.map((column, index) => {
      const text = column(row);
      return text === bests[index] ? `**${text}**` : text;
    });
    return `| ${[row.method, ...cells, row.medianMs?.toFixed(1) ?? '–'].join(' | ')} |`;
  });
  return [
    '| search | recall@1 | recall@5 | MRR@10 | median ms |',
    '| --- | --- | --- | --- | --- |',
    ...lines,
  ].join('\n');
}
