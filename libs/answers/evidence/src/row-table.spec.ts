import { describe, expect, it } from 'vitest';
import { tableOf } from './row-table.js';

describe('tableOf', () => {
  it('has a column for each header, with empty cells', () => {
    expect(tableOf(['a: 1; b: 2', 'a: 3; c: 4; 5'])).toBe(
      '| a | b | c |\n| --- | --- | --- |\n| 1 | 2 |  |\n| 3 |  | 4; 5 |',
    );
  });

  it('keeps colons in values', () => {
    expect(tableOf(['time: 10:30; place: Hall: left'])).toContain('| 10:30 | Hall: left |');
  });

  it('keeps a first column without a header', () => {
    expect(tableOf(['Refrigerant; D7: 70 g; D7 Plus: 95 g'])).toBe(
      '|  | D7 | D7 Plus |\n| --- | --- | --- |\n| Refrigerant | 70 g | 95 g |',
    );
  });

  it('becomes lists where it is too wide', () => {
    const row = Array.from({ length: 9 }, (_, index) => `h${index}: ${index}`).join('; ');
    expect(tableOf([row])?.split('\n')).toHaveLength(9);
    expect(tableOf([row])).toMatch(/^- \*\*h0\*\*: 0\n/);
  });

  it('is undefined for rows that are not pairs', () => {
    expect(tableOf(['just text'])).toBeUndefined();
    expect(tableOf(['a: 1'])).toBeUndefined();
  });
});
