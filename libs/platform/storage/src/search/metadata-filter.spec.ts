import type { MetadataFilter } from '#platform/contracts';
import { describe, expect, it } from 'vitest';
import { SqlParameters } from '../transaction.js';
import { metadataCondition } from './metadata-filter.js';

function conditionOf(filter: MetadataFilter) {
  const parameters = new SqlParameters();
  return { sql: metadataCondition(filter, parameters), values: parameters.values };
}

describe('metadataCondition', () => {
  it('takes everything without a filter', () => {
    expect(conditionOf({})).toEqual({ sql: 'true', values: [] });
  });

  it('asks for every key and for any value of a list', () => {
    const { sql, values } = conditionOf({ team: 'blue', year: [2025, 2026] });
    expect(sql).toBe('metadata @> ANY ($1::jsonb[]) AND metadata @> ANY ($2::jsonb[])');
    expect(values).toEqual([
      ['{"team":"blue"}', '{"team":["blue"]}'],
      ['{"year":2025}', '{"year":[2025]}', '{"year":2026}', '{"year":[2026]}'],
    ]);
  });

  it('looks many values up by equality, in the value and in a stored list', () => {
    const { sql, values } = conditionOf({ year: [1, 2, 3, 4, 5, 6, 7, 8, 9] });
    expect(sql).toContain('(metadata -> $1::text) = ANY ($2::jsonb[])');
    expect(sql).toContain('member = ANY ($2::jsonb[])');
    expect(values).toEqual(['year', ['1', '2', '3', '4', '5', '6', '7', '8', '9']]);
  });

  it('finds nothing for an empty list', () => {
    expect(conditionOf({ team: [] })).toEqual({ sql: 'false', values: [] });
  });

  it('keeps keys and values out of the SQL', () => {
    const { sql } = conditionOf({ [`'; DROP TABLE chunks; --`]: `' OR true` });
    expect(sql).not.toMatch(/DROP|true/);
  });
});
