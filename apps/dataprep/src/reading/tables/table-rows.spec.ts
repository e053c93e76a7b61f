import { describe, expect, it } from 'vitest';
import { readHtml } from '../read-html.js';
import { tableBlocks, textTableBlocks } from './table-rows.js';

const texts = (cells: string[][]) => textTableBlocks(cells).map(({ kind, text }) => `${kind} ${text}`);
const rowsOfHtml = (html: string) => readHtml(html).blocks.map(({ text }) => text);
const line = (tag: string, ...cells: string[]) =>
  `<tr>${cells.map((cell) => `<${tag}>${cell}</${tag}>`).join('')}</tr>`;

describe('textTableBlocks', () => {
  it('takes single cells above the headers for titles', () => {
    expect(
      texts([
        ['Price list 2026', '', ''],
        ['', '', ''],
        ['Article', 'Price', 'Stock'],
        ['A', '1.50', ''],
      ]),
    ).toEqual(['paragraph Price list 2026', 'table-row Article: A; Price: 1.50']);
  });

  it('gives each column a name of its own, without marks that end names', () => {
    expect(
      texts([
        ['Name:', 'Price', 'Price', 'From: to'],
        ['A', '1', '2', '3'],
      ]),
    ).toEqual(['table-row Name: A; Price: 1; Price (2): 2; From, to: 3']);
  });

  it('joins the cells of a table without headers', () => {
    const rows = [
      ['Name', 'Role'],
      ['Ada', 'Engineer'],
    ].map((row) => row.map((text) => ({ text })));
    expect(tableBlocks({ rows }).map(({ text }) => text)).toEqual(['Name; Role', 'Ada; Engineer']);
  });
});

describe('a table in HTML', () => {
  it('has headers where its first row is bold, or names columns of numbers', () => {
    const bold = line('td', '<b>Name</b>', '<strong>Role</strong>') + line('td', 'Ada', 'Engineer');
    expect(rowsOfHtml(`<table>${bold}</table>`)).toEqual(['Name: Ada; Role: Engineer']);
    const numbers =
      line('td', 'Item', 'Price') + line('td', 'Lamp', '12.50 €') + line('td', 'Desk', '99.00 €');
    expect(rowsOfHtml(`<table>${numbers}</table>`)).toEqual([
      'Item: Lamp; Price: 12.50 €',
      'Item: Desk; Price: 99.00 €',
    ]);
    const texts = line('td', 'Ada', 'Engineer') + line('td', 'Bo', 'Clerk') + line('td', 'Cy', 'Cook');
    expect(rowsOfHtml(`<table>${texts}</table>`)[0]).toBe('Ada; Engineer');
  });

  it('keeps cells of several rows and columns in their columns', () => {
    const head = line('th', 'Room', 'Day', 'Course');
    const body =
      '<tr><td rowspan="2">A1</td><td>Mon</td><td>Yoga</td></tr><tr><td>Tue</td><td>Chess</td></tr>' +
      '<tr><td colspan="2">closed</td><td>none</td></tr>';
    expect(rowsOfHtml(`<table>${head}${body}</table>`)).toEqual([
      'Room: A1; Day: Mon; Course: Yoga',
      'Room: A1; Day: Tue; Course: Chess',
      'Room: closed; Day: closed; Course: none',
    ]);
  });
});

describe('cells over several rows and columns', () => {
  it.each([
    [
      'headers over several columns join with the names below',
      '<tr><th rowspan="2">Port</th><th colspan="2">Spring</th><th colspan="2">Autumn</th></tr>' +
        '<tr><th>Ships</th><th>Crew</th><th>Ships</th><th>Crew</th></tr>' +
        line('td', 'Alta', '3', '40', '5', '61'),
      ['Port: Alta; Spring Ships: 3; Spring Crew: 40; Autumn Ships: 5; Autumn Crew: 61'],
    ],
    [
      'three rows of headers, the last two without marks',
      '<thead><tr><td rowspan="3">Port</td><td colspan="2">2023</td></tr></thead>' +
        '<tr><td colspan="2">Ferry</td></tr><tr><td>Trips</td><td>Guests</td></tr>' +
        line('td', 'Alta', '3', '40'),
      ['Port: Alta; 2023 Ferry Trips: 3; 2023 Ferry Guests: 40'],
    ],
    [
      'a head of table cells',
      `<thead>${line('td', 'Valve', 'Torque')}</thead>${line('td', 'V7', '19 Nm')}`,
      ['Valve: V7; Torque: 19 Nm'],
    ],
    [
      'headers of rows without headers of columns',
      '<tr><th>Mast</th><td>14 m</td></tr><tr><th>Keel</th><td>2 m</td></tr>',
      ['Mast: 14 m', 'Keel: 2 m'],
    ],
    [
      'headers of columns by their scope',
      '<tr><td>Boat</td><th scope="col">Fee</th></tr><tr><th scope="row">Sigrun</th><td>12</td></tr>',
      ['Boat: Sigrun; Fee: 12'],
    ],
    [
      'one header beside an empty corner',
      line('th', '', 'Fee') + '<tr><th>May</th><td>30</td></tr>',
      ['May; Fee: 30'],
    ],
    [
      'a title above the headers within the head',
      `<thead><tr><th colspan="3">Fares</th></tr>${line('th', 'From', 'To', 'Price')}</thead>` +
        line('td', 'Alta', 'Bodø', '40'),
      ['Fares', 'From: Alta; To: Bodø; Price: 40'],
    ],
    [
      'a remark over all columns',
      line('th', 'From', 'Price') + line('td', 'Alta', '40') + '<tr><td colspan="2">Pets are free.</td></tr>',
      ['From: Alta; Price: 40', 'Pets are free.'],
    ],
    [
      'a cell to the end of the table',
      line('th', 'Dock', 'Boat') + '<tr><td rowspan="0">D1</td><td>Frida</td></tr>' + line('td', 'Sigrun'),
      ['Dock: D1; Boat: Frida', 'Dock: D1; Boat: Sigrun'],
    ],
  ])('%s', (_case, rows, expected) => {
    expect(rowsOfHtml(`<table>${rows}</table>`)).toEqual(expected);
  });

  it('do not make a small page a large document', () => {
    const cell = `<td rowspan="60000" colspan="1000">${'x'.repeat(10_000)}</td>`;
    const texts = rowsOfHtml(`<table><tr>${cell}</tr>${'<tr><td>y</td></tr>'.repeat(2_000)}</table>`);
    expect(texts.join('').length).toBeLessThan(1_000_000);
  });
});

describe('headers that a table does not mark', () => {
  const look = (...rows: string[][]) =>
    tableBlocks({ rows: rows.map((row) => row.map((text) => ({ text }))) }).map(({ text }) => text);

  it('are names above cells with numbers, even with one row', () => {
    expect(look(['Zone', 'Days', 'Fee'], ['West', 'Mon', '41 crowns'])).toEqual([
      'Zone: West; Days: Mon; Fee: 41 crowns',
    ]);
    expect(look(['Branch', '2023', '2024'], ['Oslo', '11', '12'])).toEqual([
      'Branch: Oslo; 2023: 11; 2024: 12',
    ]);
    expect(look(['Ada', '1815'], ['Bo', '1990'], ['Cy', '1991'])[0]).toBe('Ada; 1815');
    expect(look(['Boat', 'Sigrun'], ['Berth', 'quay'], ['Fee', '12'])[0]).toBe('Boat; Sigrun');
  });

  it('of two rows are found in a sheet that leaves covered places empty', () => {
    expect(
      texts([
        ['Boat', '2023', '', '2024', ''],
        ['', 'Trips', 'Guests', 'Trips', 'Guests'],
        ['Frida', '1', '2', '3', '4'],
      ]),
    ).toEqual(['table-row Boat: Frida; 2023 Trips: 1; 2023 Guests: 2; 2024 Trips: 3; 2024 Guests: 4']);
    expect(
      texts([
        ['Name', '', 'City'],
        ['Ada', 'x', 'London'],
        ['Bo', 'y', 'Rome'],
      ]),
    ).toEqual(['table-row Name: Ada; x; City: London', 'table-row Name: Bo; y; City: Rome']);
  });

  it('are absent in a sheet of numbers', () => {
    expect(
      texts([
        ['Sigrun', '12'],
        ['Frida', '13'],
      ]),
    ).toEqual(['table-row Sigrun; 12', 'table-row Frida; 13']);
  });

  it('begin another table below a gap', () => {
    expect(
      texts([
        ['Boat', 'Berth'],
        ['Frida', 'B5'],
        ['', ''],
        ['Sigrun', 'B4'],
        ['', ''],
        ['Fees of 2024', ''],
        ['Season', 'Fee'],
        ['May', '30'],
        ['June', '40'],
      ]),
    ).toEqual([
      'table-row Boat: Frida; Berth: B5',
      'table-row Boat: Sigrun; Berth: B4',
      'paragraph Fees of 2024',
      'table-row Season: May; Fee: 30',
      'table-row Season: June; Fee: 40',
    ]);
  });
});
