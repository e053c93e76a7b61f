import { describe, expect, it } from 'vitest';
import { cellValue, decimalOf } from './cell-value.js';
import { tableOfRows } from './table.js';

const table = (...rows: string[]) => tableOfRows({ rows, about: '', isWhole: true });
const cells = (...rows: string[]) => table(...rows)?.rows.map((row) => row.cells);

describe('cellValue', () => {
  it.each([
    ['129.50', 'number', 129.5],
    ['1,299.00', 'number', 1299],
    ['12 %', 'number', 12],
    ['€ 1,250', 'number', 1250],
    ['-412.35 EUR', 'number', -412.35],
    ['+4', 'number', 4],
    ['2 h 30 min', 'duration', 150],
    ['48 hours', 'duration', 2880],
    ['5 days', 'duration', 7200],
    ['1.2 kg', 'number', 1200],
    ['9:30', 'time', 570],
    ['2:15 pm', 'time', 855],
  ])('reads %s', (text, kind, order) => {
    expect(cellValue(text)).toMatchObject({ kind, order });
  });

  it.each([
    ['2025-06-06', 2025, 5, 6],
    ['6 June 2025', 2025, 5, 6],
    ['June 6, 2025', 2025, 5, 6],
    ['6. Juni 2025', 2025, 5, 6],
    ['06.06.2025', 2025, 5, 6],
    ['Friday, 6 June 2025', 2025, 5, 6],
    ['June 2025', 2025, 5, 1],
  ])('reads the date %s', (text, year, month, day) => {
    expect(cellValue(text)).toMatchObject({ kind: 'date', order: Date.UTC(year, month, day) });
  });

  it.each(['P-120', '0732 555 010', 'Hafenstraße 12', '9:00–18:00', '4 x 8 m', 'K4'])(
    'keeps %s as a text',
    (text) => {
      expect(cellValue(text).kind).toBe('text');
    },
  );

  it('tells yes, no, nothing and empty apart', () => {
    expect(['yes', 'nein', '–', ''].map((text) => cellValue(text).kind)).toEqual([
      'boolean',
      'boolean',
      'none',
      'empty',
    ]);
  });

  it('reads numbers with a comma before the fraction, where the column has it', () => {
    expect(decimalOf(['1.299,00 €', '950,50 €'], '.')).toBe(',');
    expect(decimalOf(['1,299', '12.5'], ',')).toBe('.');
    expect(cellValue('1.299,00 €', ',')).toMatchObject({ order: 1299, unit: '€' });
  });
});

describe('tableOfRows', () => {
  it('keeps cells as written, and leaves places for empty ones', () => {
    expect(cells('a: 1.50; b: x', 'a: 2; c: y', 'a: 3; b: z; c: w')).toEqual([
      ['1.50', 'x', ''],
      ['2', '', 'y'],
      ['3', 'z', 'w'],
    ]);
  });

  it('keeps semicolons and colons within a long text', () => {
    const long = (note: string) => `Item: tap; Note: close the tap before you leave the house; ${note}`;
    const rows = Array.from({ length: 12 }, (_row, index) => `Item: i${index}; Note: n${index}`);
    expect(cells(...rows, long('Careful: hot water'))!.at(-1)).toEqual([
      'tap',
      'close the tap before you leave the house; Careful: hot water',
    ]);
  });

  it('takes the first of rows without headers for headers, where it may be one', () => {
    expect(table('Name; City', 'Ada; Oslo', 'Bo; Bergen')?.columns.map(({ name }) => name)).toEqual([
      'Name',
      'City',
    ]);
    expect(table('Ada; 2025-01-01', 'Bo; 2025-01-02', 'Cy; 2025-01-03')).toBeUndefined();
  });

  it('leaves out a row of sums', () => {
    expect(table('Item: a; Sum: 1', 'Item: b; Sum: 2', 'Item: Total; Sum: 3')?.rows).toHaveLength(2);
  });

  it('finds kinds, units and the columns that name a row', () => {
    const found = table(
      'No: A1; Name: Ada Berg; Weight (kg): 2; Price per day: 3 €; Since: 2020-01-01; Car: yes',
      'No: A2; Name: Bo Dahl; Weight (kg): 3; Price per day: 4 €; Since: 2021-01-01; Car: no',
    )!;
    expect(found.columns.map(({ kind }) => kind)).toEqual([
      'text',
      'text',
      'number',
      'number',
      'date',
      'boolean',
    ]);
    expect(found.columns.map(({ unit }) => unit)).toEqual(['', '', 'kg', '€', '', '']);
    expect(found.labels.map(({ name }) => name)).toEqual(['No', 'Name']);
  });
});
