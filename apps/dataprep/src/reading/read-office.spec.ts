import { describe, expect, it } from 'vitest';
import { makeEpub, makeOdt, makePptx, makeXlsx } from '../../../../test/fixtures/dataprep/make-office.js';
import { makeZip } from '../../../../test/fixtures/dataprep/make-zip.js';
import { defaultReadingLimits } from './parsed-document.js';
import { readDocument } from './read-document.js';

const read = (filename: string, content: string | Uint8Array, maxUnpackedBytes = 1_000_000) => {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content;
  return readDocument({ filename, mimeType: '', bytes }, { ...defaultReadingLimits, maxUnpackedBytes });
};
const outline = async (filename: string, content: string | Uint8Array) =>
  (await read(filename, content)).blocks.map(({ kind, level, text, page }) => [
    level ? `h${level}` : kind,
    text,
    ...(page ? [page] : []),
  ]);

it('reads the sheets of a workbook as tables, with days', async () => {
  const workbook = makeXlsx({
    Animals: [
      ['Name', 'Legs', 'Born'],
      ['Orst', 11, { date: 45_000 }],
    ],
    Notes: [['Closed on Mondays']],
  });
  expect(await outline('a.xlsx', workbook)).toEqual([
    ['h1', 'Animals'],
    ['table-row', 'Name: Orst; Legs: 11; Born: 2023-03-15'],
    ['h1', 'Notes'],
    ['table-row', 'Closed on Mondays'],
  ]);
});

it('keeps numbers as the workbook shows them', async () => {
  const formats = [
    '0.00',
    '#,##0.00 "EUR"',
    '0%',
    '[$€-407] #,##0',
    '0.0" kg"',
    'yyyy-mm-dd',
    '[Red]-0.00;0.00',
  ];
  const shown = (number: number, style: number) => ({ number, style });
  const workbook = makeXlsx(
    {
      Prices: [
        ['Item', 'Price', 'Total', 'Share', 'Value', 'Weight', 'Plain'],
        ['A', shown(129.5, 2), shown(1299, 3), shown(0.15, 4), shown(12_500, 5), shown(2.25, 6), 129.5],
        ['B', shown(-3, 2), shown(0.5, 3), shown(1, 4), shown(7, 5), shown(10, 6), 3],
      ],
    },
    formats,
  );
  expect((await outline('a.xlsx', workbook)).slice(1)).toEqual([
    [
      'table-row',
      'Item: A; Price: 129.50; Total: 1,299.00 EUR; Share: 15%; Value: € 12,500; Weight: 2.3 kg; Plain: 129.5',
    ],
    [
      'table-row',
      'Item: B; Price: -3.00; Total: 0.50 EUR; Share: 100%; Value: € 7; Weight: 10.0 kg; Plain: 3',
    ],
  ]);
});

it('reads slides in the order of the presentation, as pages', async () => {
  const slides = [
    ['Welcome', 'The zarf is made of tin.'],
    ['Prices', 'A zarf costs &lt; 5.'],
  ];
  expect(await outline('talk', makePptx(slides))).toEqual([
    ['h1', 'Welcome', 1],
    ['paragraph', 'The zarf is made of tin.', 1],
    ['h1', 'Prices', 2],
    ['paragraph', 'A zarf costs < 5.', 2],
  ]);
});

it('reads headings, lists and tables of an OpenDocument text', async () => {
  const row = (...cells: string[]) =>
    `<table:table-row>${cells.map((cell) => `<table:table-cell><text:p>${cell}</text:p></table:table-cell>`).join('')}</table:table-row>`;
  const body =
    '<text:h text:outline-level="2">Part</text:h><text:p>One<text:s/>two.</text:p>' +
    '<text:list><text:list-item><text:p>First</text:p></text:list-item></text:list>' +
    `<table:table>${row('Name', 'Role')}${row('Ada', 'Engineer')}</table:table>`;
  expect(await outline('a.odt', makeOdt(body))).toEqual([
    ['h2', 'Part'],
    ['paragraph', 'One two.'],
    ['list-item', 'First'],
    ['table-row', 'Name: Ada; Role: Engineer'],
  ]);
});

it('reads the chapters of a book in the order of its spine', async () => {
  const book = makeEpub('The Book', ['<h1>One</h1><p>First.</p>', '<h1>Two</h1><p>Second.</p>']);
  expect(await outline('a.epub', book)).toEqual([
    ['h1', 'One'],
    ['paragraph', 'First.'],
    ['h1', 'Two'],
    ['paragraph', 'Second.'],
  ]);
  expect((await read('a.epub', book)).title).toBe('The Book');
});

it('reads a page of a book once, however often its spine names it', async () => {
  const pages = ['<h1>One</h1><p>First.</p>', '<p>Second.</p>'];
  const repeated = makeEpub('The Book', pages, 10_000);
  expect(await outline('a.epub', repeated)).toEqual(await outline('a.epub', makeEpub('The Book', pages)));
});

it('reads a mail with its subject, its people and its text', async () => {
  const mail = [
    'From: =?utf-8?q?K=C3=A4the?= <k@example.org>',
    'To: Ada <ada@example.org>',
    'Subject: Opening hours',
    'Date: Fri, 20 Nov 2026 10:00:00 +0000',
    'MIME-Version: 1.0',
    'Content-Type: multipart/alternative; boundary=x',
    '',
    '--x',
    'Content-Type: text/plain; charset=utf-8',
    'Content-Transfer-Encoding: quoted-printable',
    '',
    'We open at nine =E2=82=AC.',
    '--x--',
    '',
  ].join('\r\n');
  expect(await outline('a.eml', mail)).toEqual([
    ['h1', 'Opening hours'],
    ['paragraph', 'From: Käthe <k@example.org>; To: Ada <ada@example.org>; Date: 2026-11-20'],
    ['paragraph', 'We open at nine €.'],
  ]);
});

describe('rich text', () => {
  it('keeps paragraphs, code pages and Unicode, and leaves tables of fonts out', async () => {
    const text = String.raw`{\rtf1\ansi\ansicpg1252{\fonttbl{\f0 Times;}}{\*\generator x;}\f0 Caf\'e9 \u8364?5\par {\b Bold} \{x\}\par }`;
    expect(await outline('a.rtf', text)).toEqual([
      ['paragraph', 'Café €5'],
      ['paragraph', 'Bold {x}'],
    ]);
  });

  it('refuses groups within groups without end', async () => {
    await expect(read('a.rtf', `{\\rtf1 ${'{'.repeat(5_000)}`)).rejects.toMatchObject({
      code: 'unsupported_file',
    });
  });
});

it.each([
  ['a.pptx', makePptx([['x'.repeat(2_000_000)]])],
  ['a.xlsx', makeXlsx({ One: [['x'.repeat(2_000_000)]] })],
  ['a.odt', makeOdt(`<text:p>${'x'.repeat(2_000_000)}</text:p>`)],
  ['a.epub', makeEpub('x', ['x'.repeat(2_000_000)])],
])('refuses %s that unpacks to more than the limit', async (filename, bytes) => {
  expect(bytes.length).toBeLessThan(20_000);
  await expect(read(filename, bytes)).rejects.toMatchObject({
    code: 'unsupported_file',
    message: expect.stringContaining('unpacks to more than') as string,
  });
});

it('names the part that a damaged presentation lacks', async () => {
  await expect(read('a.pptx', makeZip({ 'ppt/presentation.xml': '<p/>' }))).rejects.toThrow(
    'ppt/_rels/presentation.xml.rels',
  );
});
