import type { AttributeFilter, ComparisonFilter } from '#contracts';
import { toPostgresJson } from '../postgres-text.js';
import type { SqlParameters } from '../transaction.js';

const operators = { gt: '>', gte: '>=', lt: '<', lte: '<=' } as const;

/**
 * Returns the SQL condition of an attribute filter over a jsonb `column` that is never null; its value is true or
 * false, never null. Keys and values are bound parameters. Equality is containment of one entry, which
 * distinguishes types.
 */
export function attributeCondition(
  column: string,
  filter: AttributeFilter,
  parameters: SqlParameters,
): string {
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
