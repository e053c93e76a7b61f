import { describe, expect, it } from 'vitest';
import { readHtml } from './read-html.js';
import { tableRows } from './table-rows.js';

const texts = (cells: string[][]) => tableRows(cells).map(({ kind, text }) => `${kind} ${text}`);
const rowsOfHtml = (html: string) => readHtml(html).blocks.map(({ text }) => text);
const line = (tag: string, ...cells: string[]) =>
  `<tr>${cells.map((cell) => `<${tag}>${cell}</${tag}>`).join('')}</tr>`;

describe('tableRows', () => {
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
    expect(texts([[], ['Name', 'Role'], ['Ada', 'Engineer']])).toEqual([
      'table-row Name; Role',
      'table-row Ada; Engineer',
    ]);
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
      'Room: closed; Course: none',
    ]);
  });
});
