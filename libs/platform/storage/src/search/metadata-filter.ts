import type { AttributeFilter, ComparisonFilter, MetadataFilter } from '#platform/contracts';
import { toPostgresJson, type SqlParameters } from '../transaction.js';
import type { ChunkSearch } from './chunk-search.js';

/** The parts of a search that determine which chunks it may return. */
export type ChunkScope = Pick<ChunkSearch, 'collection' | 'owner' | 'filter' | 'attributeFilter'>;

/** Returns the SQL condition on a column `owner`: only the owner sees the chunks of a vector store. */
export function ownerCondition({ owner }: Pick<ChunkScope, 'owner'>, parameters: SqlParameters): string {
  return owner === undefined ? 'owner IS NULL' : `owner = ${parameters.add(owner)}`;
}

/**
 * Returns the SQL condition for chunks that a search may return: of a complete document, of the owner, and matching
 * the search's filters.
 */
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
 * SQL condition: the chunk's document is complete. The few pending documents (usually zero) are looked up once per
 * statement.
 */
export const isVisible =
  'document_id <> ALL (ARRAY(SELECT pending.id FROM documents AS pending WHERE pending.pending_since IS NOT NULL))';

/** Values of a key up to which containment is asked for each of them. */
const fewValues = 8;

/**
 * Returns the SQL condition of a metadata filter, with bound values. Every key must match; a list matches if one of its
 * values does (an empty list never); a stored list matches if it contains the value. For few values containment (`@>`)
 * can use the GIN index on metadata. Many are looked up in a hash table, so that a chunk costs the same for any number.
 */
export function metadataCondition(filter: MetadataFilter, parameters: SqlParameters): string {
  const conditions = Object.entries(filter).map(([key, wanted]) => {
    const values = Array.isArray(wanted) ? wanted : [wanted];
    if (values.length === 0) return 'false';
    if (values.length > fewValues) return anyOfMany(parameters.add(key), values, parameters);
    const patterns = values.flatMap((value) => [{ [key]: value }, { [key]: [value] }]).map(toPostgresJson);
    return `metadata @> ANY (${parameters.add(patterns)}::jsonb[])`;
  });
  return conditions.length > 0 ? conditions.join(' AND ') : 'true';
}

/** Postgres hashes the values of `= ANY`. A stored list is compared member by member. */
function anyOfMany(key: string, values: readonly unknown[], parameters: SqlParameters): string {
  const wanted = `${parameters.add(values.map(toPostgresJson))}::jsonb[]`;
  const stored = `(metadata -> ${key}::text)`;
  const members = `jsonb_array_elements(CASE jsonb_typeof(${stored}) WHEN 'array' THEN ${stored} ELSE '[]' END)`;
  return `(${stored} = ANY (${wanted}) OR EXISTS (SELECT FROM ${members} AS member WHERE member = ANY (${wanted})))`;
}

const operators = { gt: '>', gte: '>=', lt: '<', lte: '<=' } as const;

/**
 * Returns the SQL condition of an attribute filter over a jsonb `column` that is never null; its value is true or
 * false, never null. Keys and values are bound parameters. Equality is containment of one entry, which
 * distinguishes types.
 */
function attributeCondition(column: string, filter: AttributeFilter, parameters: SqlParameters): string {
  if (!('filters' in filter)) return comparison(column, filter, parameters);
  const conditions = filter.filters.map((part) => attributeCondition(column, part, parameters));
  if (conditions.length === 0) return filter.type === 'and' ? 'true' : 'false';
  return `(${conditions.join(filter.type === 'and' ? ' AND ' : ' OR ')})`;
}

function comparison(column: string, filter: ComparisonFilter, parameters: SqlParameters): string {
  const { type, key, value } = filter;
  if (type === 'eq' || type === 'ne')
    return negatedIf(type === 'ne', equals(column, key, [value], parameters));
  if (type === 'in' || type === 'nin')
    return negatedIf(type === 'nin', equals(column, key, value, parameters));
  const name = parameters.add(key);
  const wanted = parameters.add(value);
  const entry = `(${column} ->> ${name}::text)`;
  const [kind, compared] =
    typeof value === 'number'
      ? ['number', `${entry}::numeric ${operators[type]} ${wanted}::numeric`]
      : ['string', `${entry} COLLATE "C" ${operators[type]} ${wanted}::text COLLATE "C"`];
  // CASE, because with AND Postgres may still cast values that are not numbers.
  return `(CASE WHEN jsonb_typeof(${column} -> ${name}::text) = '${kind}' THEN ${compared} ELSE false END)`;
}

/** True if the entry equals one of the values. */
function equals(
  column: string,
  key: string,
  values: readonly (string | number | boolean)[],
  parameters: SqlParameters,
): string {
  if (values.length === 0) return 'false';
  const entries = parameters.add(values.map((value) => toPostgresJson({ [key]: value })));
  return `(${column} @> ANY (${entries}::jsonb[]))`;
}

function negatedIf(negated: boolean, condition: string): string {
  return negated ? `(NOT ${condition})` : condition;
}
