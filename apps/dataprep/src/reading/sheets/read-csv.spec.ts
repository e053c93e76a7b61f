import { describe, expect, it } from 'vitest';
import { readCsv } from './read-csv.js';

const texts = (source: string) => readCsv(source).blocks.map(({ text }) => text);

describe('the delimiter', () => {
  it.each([
    [
      'of records with quoted line ends',
      'Boat;Note;Fee\n"A";"one\ntwo, three";"1,5"\n"B";"x";"2,5"\n',
      ['Boat: A; Note: one two, three; Fee: 1,5', 'Boat: B; Note: x; Fee: 2,5'],
    ],
    [
      'of a tab beside commas',
      'Boat\tPlace\nA\tOslo, Norway\nB\tBergen, Norway\n',
      ['Boat: A; Place: Oslo, Norway', 'Boat: B; Place: Bergen, Norway'],
    ],
    ['that the first line names', '"sep=|"\r\nBoat|Fee;x\r\nA|1\r\n', ['Boat: A; Fee;x: 1']],
    ['of lines of old Macs', 'Boat;Fee\rA;1,5\rB;2,5', ['Boat: A; Fee: 1,5', 'Boat: B; Fee: 2,5']],
  ])('is that %s', (_case, source, expected) => {
    expect(texts(source)).toEqual(expected);
  });
});

describe('quotation marks', () => {
  it.each([
    [
      'within a text',
      'Item,Size\nPipe,5" wide\n"""Big"" rope",long\n',
      ['Item: Pipe; Size: 5" wide', 'Item: "Big" rope; Size: long'],
    ],
    [
      'that end before the field does',
      'Item,Size,Note\n"Old" lamp,small,brass\nRope,long,hemp\n',
      ['Item: "Old" lamp; Size: small; Note: brass', 'Item: Rope; Size: long; Note: hemp'],
    ],
    [
      'that nothing closes',
      'Item,Size,Note\nPipe,"5 inch,steel\nRope,long,hemp\n',
      ['Item: Pipe; Size: 5 inch; Note: steel', 'Item: Rope; Size: long; Note: hemp'],
    ],
    [
      'that another record closes',
      'Item,Size,Note\nPipe,"5 inch,steel\nRope,long,6"\n',
      ['Item: Pipe; Size: 5 inch; Note: steel', 'Item: Rope; Size: long; Note: 6"'],
    ],
    ['after a space', 'Item, Size\nPipe, "a, b"\n', ['Item: Pipe; Size: a, b']],
  ])('%s', (_case, source, expected) => {
    expect(texts(source)).toEqual(expected);
  });

  it('of a large file without delimiters take no time', () => {
    const start = performance.now();
    expect(texts('He said "x"\n'.repeat(100_000))).toHaveLength(99_999);
    expect(performance.now() - start).toBeLessThan(5_000);
  });
});

describe('lines above the headers', () => {
  it.each([
    ['a title', 'Fleet of May\n\nBoat;Fee;Crew\nA;1,5;2\n', ['Fleet of May', 'Boat: A; Fee: 1,5; Crew: 2']],
    [
      'facts',
      'Fleet of May\nCreated:;3 May\n\nBoat;Fee;Crew;Dock\nA;1,5;2;B4\n',
      ['Fleet of May', 'Created: 3 May', 'Boat: A; Fee: 1,5; Crew: 2; Dock: B4'],
    ],
    ['a title with empty fields', 'Fleet,,\nBoat,Fee,Crew\nA,1,2\n', ['Fleet', 'Boat: A; Fee: 1; Crew: 2']],
    [
      'a row of groups',
      'Boat,2023,,2024,\n,Trips,Crew,Trips,Crew\nA,1,2,3,4\n',
      ['Boat: A; 2023 Trips: 1; 2023 Crew: 2; 2024 Trips: 3; 2024 Crew: 4'],
    ],
  ])('are %s', (_case, source, expected) => {
    expect(texts(source)).toEqual(expected);
  });
});

it('keeps numbers as they are written', () => {
  expect(texts('Id,Price,Share\n00412345678901234567,1.10,15.00%\n')).toEqual([
    'Id: 00412345678901234567; Price: 1.10; Share: 15.00%',
  ]);
});
