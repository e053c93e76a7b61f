import { SqlParameters, type Transaction } from '../transaction.js';
import type { ChunkHit, ChunkSearch } from './chunk-search.js';
import { chunkCondition } from './metadata-filter.js';

/** The bonus of a preferred document, as a share of the best score. */
const bonusShare = 0.1;

/**
 * Adds a bonus to the scores of chunks whose document is preferred, and sorts again. The bonus is small: it decides
 * between similar scores, and does not lift a chunk that hardly fits.
 */
export function preferDocuments(hits: readonly ChunkHit[], documents: readonly string[] = []): ChunkHit[] {
  if (documents.length === 0) return [...hits];
  const preferred = new Set<unknown>(documents);
  const bonus = bonusShare * Math.max(0, ...hits.map(({ score }) => score));
  return hits
    .map((hit) => (preferred.has(hit.metadata['document_id']) ? { ...hit, score: hit.score + bonus } : hit))
    .sort((left, right) => right.score - left.score);
}

const uuid = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

/**
 * Appends the passages of a search that are not among its hits, with the lowest score of the hits, in the order of the
 * request. A passage that the search may not return (of another collection or owner, or filtered out) is left out.
 */
export async function appendPassages(
  transaction: Transaction,
  search: ChunkSearch,
  hits: readonly ChunkHit[],
): Promise<ChunkHit[]> {
  const found = new Set(hits.map(({ id }) => id));
  const wanted = (search.passages ?? []).filter((id) => uuid.test(id) && !found.has(id));
  if (wanted.length === 0) return [...hits];
  const parameters = new SqlParameters();
  const rows = await transaction.query<Omit<ChunkHit, 'score'>>(
    `SELECT id, text, metadata FROM chunks
     WHERE id = ANY (${parameters.add(wanted)}::uuid[]) AND collection = ${parameters.add(search.collection)}
       AND ${chunkCondition(search, parameters)}`,
    parameters.values,
  );
  const score = Math.min(...hits.map((hit) => hit.score), Infinity);
  const byId = new Map(rows.map((row) => [row.id, row]));
  const passages = wanted.flatMap((id) => byId.get(id) ?? []);
  return [...hits, ...passages.map((row) => ({ ...row, score: Number.isFinite(score) ? score : 0 }))];
}
