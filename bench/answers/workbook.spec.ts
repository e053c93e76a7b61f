import { readSheet } from 'read-excel-file/node';
import { expect, it } from 'vitest';
import { workbook } from './workbook.js';

it('makes a workbook with sheets of texts and numbers', async () => {
  const file = workbook({
    One: [
      ['a', 'b & "c"'],
      ['Müller <x>', 12.5],
    ],
    Two: [['second', 3]],
  });
  expect(await readSheet(file, 'One')).toEqual([
    ['a', 'b & "c"'],
    ['Müller <x>', 12.5],
  ]);
  expect(await readSheet(file, 'Two')).toEqual([['second', 3]]);
});
