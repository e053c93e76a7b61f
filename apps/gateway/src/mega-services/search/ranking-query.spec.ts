import { describe, expect, it } from 'vitest';
import { rankingQuery } from './ranking-query.js';

const english = ['Annual leave: every employee has 26 days of annual leave per year.'];
const german = ['Urlaub: Alle Beschäftigten haben 26 Urlaubstage im Jahr.'];
const queries = ['Wie viele Urlaubstage habe ich im Jahr?', 'annual leave days per year'];

describe('rankingQuery', () => {
  it('is the first query with the words of the others', () => {
    const asked = ['Who built the mill?', 'founder of the mill'];
    expect(rankingQuery(asked, ['The mill burned down.'])).toBe('Who built the mill? founder of the mill');
    expect(rankingQuery(['alone'], english)).toBe('alone');
  });

  it('leaves out queries that would make it too long', () => {
    const long = 'mill '.repeat(50).trim();
    expect(rankingQuery([long, 'river '.repeat(20), 'wheel'], ['The mill.'])).toBe(`${long} wheel`);
  });

  it('is the query in the language of the passages alone', () => {
    expect(rankingQuery(queries, english)).toBe(queries[1]);
    expect(rankingQuery(queries.toReversed(), german)).toBe(queries[0]);
    expect(rankingQuery(queries, german)).toContain(queries[0]);
  });
});
