import { neighbourReach, type Neighbour } from '#platform/contracts';
import type { Transaction } from '../transaction.js';

/** The found chunks whose neighbours are wanted. */
export interface NeighbourSearch {
  /** Owner of the vector store; only the owner reads chunks that have an owner. */
  owner?: string;
  /** Ids of found chunks, the best one first. */
  ids: readonly string[];
  /** Limit for the words of all neighbours together. */
  maxWords: number;
}

const { section, sectionOfLater, table, document } = neighbourReach;

interface NeighbourRow extends Neighbour {
  documentId: string;
  position: number;
  /** The found chunk itself, and its rank from 1; null for a neighbour. */
  rank: number | null;
  hasRows: boolean;
  heading: string | null;
}

const uuid = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

/**
 * The chunks around found ones in the same section of their document, nearest first within the limit of words. All rows
 * of a table are neighbours of each other. The beginning of a document has the chunks after it in all sections, after
 * the other neighbours. The found chunks are not in the result.
 */
export async function findNeighbours(
  transaction: Transaction,
  { owner, ids, maxWords }: NeighbourSearch,
): Promise<Neighbour[]> {
  const stored = ids.filter((id) => uuid.test(id));
  if (stored.length === 0) return [];
  const rows = await transaction.query<NeighbourRow>(statement, [stored, owner ?? null]);
  return withinWords(nearestFirst(rows), maxWords).map(({ id, text, metadata }) => ({ id, text, metadata }));
}

const statement = `
  WITH found AS (
    SELECT c.document_id, c.position, given.rank, c.metadata->>'heading' AS heading,
      c.position = 0 AND given.rank <= ${document.maxRank} AS begins,
      CASE WHEN coalesce(c.metadata->>'blocks', '') LIKE '%r%' AND given.rank <= ${table.maxRank} THEN ${table.max}
        WHEN given.rank <= ${section.maxRank} THEN ${section.max} ELSE ${sectionOfLater} END AS reach
    FROM unnest($1::uuid[]) WITH ORDINALITY AS given(id, rank) JOIN chunks c USING (id)
    WHERE c.owner IS NOT DISTINCT FROM $2
  ), around AS (
    SELECT DISTINCT c.id FROM found JOIN chunks c ON c.document_id = found.document_id
      AND c.position BETWEEN found.position - found.reach AND found.position + found.reach
    WHERE c.metadata->>'heading' IS NOT DISTINCT FROM found.heading
    UNION
    SELECT c.id FROM found JOIN chunks c ON c.document_id = found.document_id AND c.position BETWEEN 1 AND ${document.max}
    WHERE found.begins
  )
  SELECT c.id, c.text, c.metadata, c.document_id AS "documentId", c.position, found.rank::int AS rank,
    coalesce(c.metadata->>'blocks', '') LIKE '%r%' AS "hasRows", c.metadata->>'heading' AS heading
  FROM around JOIN chunks c USING (id)
  LEFT JOIN found ON found.document_id = c.document_id AND found.position = c.position
  ORDER BY c.document_id, c.position`;

/** Walks from each found chunk in both directions to the end of its section, of its table, or of its reach. */
function nearestFirst(rows: readonly NeighbourRow[]): NeighbourRow[] {
  const found = rows.flatMap((row, index) => (row.rank === null ? [] : [{ index, rank: row.rank }]));
  const chosen = new Set<NeighbourRow>();
  for (const { index, rank } of found.toSorted((left, right) => left.rank - right.rank)) {
    const open = new Set([-1, 1]);
    for (let distance = 1; open.size > 0; distance += 1) {
      for (const direction of open) {
        const next = rows[index + direction * distance];
        const before = rows[index + direction * (distance - 1)]!;
        if (
          next &&
          isNextTo(next, before, direction) &&
          isWithinReach(rows[index]!, next, { distance, rank })
        ) {
          if (next.rank === null) chosen.add(next);
        } else open.delete(direction);
      }
    }
  }
  for (const row of found.flatMap(({ index }) => restOf(rows, index))) chosen.add(row);
  return [...chosen];
}

/** The chunks that follow the beginning of a document; none for another chunk, or for a later rank. */
function restOf(rows: readonly NeighbourRow[], index: number): NeighbourRow[] {
  const { position, rank, documentId } = rows[index]!;
  if (position !== 0 || rank === null || rank > document.maxRank) return [];
  return rows
    .slice(index + 1, index + 1 + document.max)
    .filter((row) => row.documentId === documentId && row.position <= document.max && row.rank === null);
}

function isNextTo(row: NeighbourRow, before: NeighbourRow, direction: number): boolean {
  const isSameSection = row.documentId === before.documentId && row.heading === before.heading;
  return isSameSection && row.position === before.position + direction;
}

function isWithinReach(
  found: NeighbourRow,
  row: NeighbourRow,
  { distance, rank }: { distance: number; rank: number },
): boolean {
  if (distance <= (rank <= section.maxRank ? section.max : sectionOfLater)) return true;
  return found.hasRows && row.hasRows && rank <= table.maxRank && distance <= table.max;
}

function withinWords(rows: readonly NeighbourRow[], maxWords: number): NeighbourRow[] {
  let words = 0;
  const cut = rows.findIndex(({ text }) => (words += text.split(/\s+/).length) > maxWords);
  const kept = cut === -1 ? [...rows] : rows.slice(0, cut);
  return kept.toSorted(
    (left, right) =>
      (left.documentId < right.documentId ? -1 : left.documentId > right.documentId ? 1 : 0) ||
      left.position - right.position,
  );
}
