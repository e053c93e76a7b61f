import type { MetadataFilter } from '#contracts';
import { toPostgresJson } from '../postgres-text.js';
import type { SqlParameters } from '../transaction.js';
import { attributeCondition } from './attribute-filter.js';
import type { ChunkSearch } from './chunk-search.js';

/** What decides which chunks a search looks at. */
export type ChunkScope = Pick<ChunkSearch, 'collection' | 'owner' | 'filter' | 'attributeFilter'>;

/** The SQL condition on a column `owner`: what belongs to a vector store is seen by its owner alone. */
export function ownerCondition({ owner }: Pick<ChunkScope, 'owner'>, parameters: SqlParameters): string {
  return owner === undefined ? 'owner IS NULL' : `owner = ${parameters.add(owner)}`;
}

/** The SQL condition that a search may show a chunk: of a whole document, of its owner, and passing the search's filters. */
export function chunkCondition(
  { collection, owner, filter = {}, attributeFilter }: ChunkScope,
  parameters: SqlParameters,
): string {
  const conditions = [
    ownerCondition({ owner }, parameters),
    isVisible,
    metadataCondition(filter, parameters),
  ];
  if (attributeFilter) {
    const passes = attributeCondition('passing.metadata', attributeFilter, parameters);
    conditions.push(`document_id = ANY (ARRAY(SELECT passing.id FROM documents AS passing
      WHERE passing.collection = ${parameters.add(collection)} AND ${passes}))`);
  }
  return conditions.join(' AND ');
}

/**
 * The SQL condition that a chunk's document has been written whole. The few pending ones (mostly none) are looked up
 * once a statement.
 */
const isVisible =
  'document_id <> ALL (ARRAY(SELECT pending.id FROM documents AS pending WHERE pending.pending_since IS NOT NULL))';

/**
 * The SQL condition of a metadata filter, its values bound. Every key must match; a list matches where any of its
 * values does (an empty one never); a stored list matches where it contains the value. Containment (`@>`), so that
 * the GIN index on metadata serves it.
 */
export function metadataCondition(filter: MetadataFilter, parameters: SqlParameters): string {
  const conditions = Object.entries(filter).map(([key, wanted]) => {
    const values = Array.isArray(wanted) ? wanted : [wanted];
    if (values.length === 0) return 'false';
    const patterns = values.flatMap((value) => [{ [key]: value }, { [key]: [value] }]).map(toPostgresJson);
    return `metadata @> ANY (${parameters.add(patterns)}::jsonb[])`;
  });
  return conditions.length > 0 ? conditions.join(' AND ') : 'true';
}
