import { toPostgresJson } from '../postgres-text.js';
import type { SqlParameters } from '../transaction.js';

/**
 * The SQL condition that a chunk's document has been written whole. The few pending ones (mostly none) are looked up
 * once a statement.
 */
export const isVisible =
  'document_id <> ALL (ARRAY(SELECT pending.id FROM documents AS pending WHERE pending.pending_since IS NOT NULL))';

/**
 * The SQL condition of a metadata filter, its values bound. Every key must match; a list matches where any of its
 * values does (an empty one never); a stored list matches where it contains the value. Containment (`@>`), so that
 * the GIN index on metadata serves it.
 */
export function metadataCondition(filter: Record<string, unknown>, parameters: SqlParameters): string {
  const conditions = Object.entries(filter).map(([key, wanted]) => {
    const values: unknown[] = Array.isArray(wanted) ? wanted : [wanted];
    const alternatives = values
      .flatMap((value) => [{ [key]: value }, { [key]: [value] }])
      .map((pattern) => `metadata @> ${parameters.add(toPostgresJson(pattern))}::jsonb`);
    return alternatives.length > 0 ? `(${alternatives.join(' OR ')})` : 'false';
  });
  return conditions.length > 0 ? conditions.join(' AND ') : 'true';
}
