import { describe, expect, it } from 'vitest';
import { makeXlsx } from '../../../../../test/fixtures/dataprep/make-office.js';
import { makeZip } from '../../../../../test/fixtures/dataprep/make-zip.js';
import { defaultReadingLimits, type SourceFile } from '../parsed-document.js';
import { readXlsx } from './read-xlsx.js';

const main = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"';
const type = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';

/** A workbook with these parts; `sheets` are the contents of `worksheet`, by name and state. */
const workbook = (sheets: [name: string, xml: string, state?: string][], styles = '', texts = '') =>
  makeZip({
    'xl/workbook.xml': `<workbook ${main} xmlns:q="${type}"><sheets>${sheets
      .map(([name, , state = 'visible'], at) => `<sheet name="${name}" state="${state}" q:id="s${at}"/>`)
      .join('')}</sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': `<Relationships>${sheets
      .map(
        (_sheet, at) =>
          `<Relationship Id="s${at}" Type="${type}/worksheet" Target="/xl/worksheets/sheet${at}.xml"/>`,
      )
      .join(
        '',
      )}<Relationship Id="t" Type="${type}/styles" Target="styles.xml"/><Relationship Id="x" Type="${type}/sharedStrings" Target="sharedStrings.xml"/></Relationships>`,
    'xl/styles.xml': `<styleSheet ${main}>${styles}</styleSheet>`,
    'xl/sharedStrings.xml': `<sst ${main}>${texts}</sst>`,
    ...Object.fromEntries(
      sheets.map(([, xml], at) => [`xl/worksheets/sheet${at}.xml`, `<worksheet ${main}>${xml}</worksheet>`]),
    ),
  });
const text = (at: string, value: string, style = 0) =>
  `<c r="${at}" s="${style}" t="inlineStr"><is><t>${value}</t></is></c>`;
const data = (...rows: string[]) =>
  `<sheetData>${rows.map((cells) => `<row>${cells}</row>`).join('')}</sheetData>`;
const read = (bytes: Uint8Array, facts: Partial<SourceFile> = {}) =>
  readXlsx({ filename: 'a.xlsx', mimeType: '', bytes, ...facts }, defaultReadingLimits);
const rowsOf = (bytes: Uint8Array, facts?: Partial<SourceFile>) =>
  read(bytes, facts)
    .blocks.filter(({ kind }) => kind !== 'heading')
    .map((block) => block.text);

describe('cells of a sheet', () => {
  it.each([
    [
      'merged down',
      data(
        text('A1', 'Dock') + text('B1', 'Boat'),
        text('A2', 'East') + text('B2', 'Ada'),
        text('B3', 'Bo'),
      ) + '<mergeCells><mergeCell ref="A2:A3"/></mergeCells>',
      ['Dock: East; Boat: Ada', 'Dock: East; Boat: Bo'],
    ],
    [
      'merged across',
      data(
        text('A1', 'Dock') + text('B1', 'Mon') + text('C1', 'Tue'),
        text('A2', 'East') + text('B2', 'closed'),
      ) + '<mergeCells><mergeCell ref="B2:C2"/></mergeCells>',
      ['Dock: East; Mon: closed; Tue: closed'],
    ],
    [
      'of two header rows',
      data(
        text('A1', 'Dock') + text('B1', 'Spring'),
        text('B2', 'Ships') + text('C2', 'Crew'),
        text('A3', 'East') + '<c r="B3"><v>3</v></c><c r="C3"><v>40</v></c>',
      ) + '<mergeCells><mergeCell ref="A1:A2"/><mergeCell ref="B1:C1"/></mergeCells>',
      ['Dock: East; Spring Ships: 3; Spring Crew: 40'],
    ],
    [
      'merged over a whole sheet',
      data(
        text('A1', 'Fleet'),
        text('A2', 'Boat') + text('B2', 'Berth'),
        text('A3', 'Ada') + text('B3', 'B1'),
      ) + '<mergeCells><mergeCell ref="A1:XFD1"/></mergeCells>',
      ['Fleet', 'Boat: Ada; Berth: B1'],
    ],
    [
      'far apart',
      '<sheetData><row r="2"><c r="B2" t="str"><v>Item</v></c><c r="AAA2" t="str"><v>Fee</v></c></row><row r="1048576"><c r="B1048576" t="str"><v>Mast</v></c><c r="AAA1048576"><v>7</v></c></row></sheetData>',
      ['Item: Mast; Fee: 7'],
    ],
    [
      'without places',
      data(
        '<c t="str"><v>Item</v></c><c t="str"><v>Fee</v></c>',
        '<c t="str"><v>Mast</v></c><c><v>7</v></c>',
      ),
      ['Item: Mast; Fee: 7'],
    ],
  ])('%s', (_case, xml, expected) => {
    expect(rowsOf(workbook([['One', xml]]))).toEqual(expected);
  });

  it('of a diagonal do not fill the memory', () => {
    const rows = Array.from({ length: 3_000 }, (_unused, at) => {
      const letters = [at / 676, (at / 26) % 26, at % 26]
        .map((digit) => String.fromCharCode(65 + (Math.floor(digit) % 26)))
        .join('');
      return `<row r="${at + 1}"><c r="${letters}${at + 1}"><v>1</v></c></row>`;
    });
    expect(rowsOf(workbook([['One', `<sheetData>${rows.join('')}</sheetData>`]])).length).toBeGreaterThan(
      2_000,
    );
  });
});

describe('numbers of a sheet', () => {
  const shown = (code: string, number: number | string) => {
    const [, row] = [
      0,
      rowsOf(
        makeXlsx(
          {
            One: [
              ['Item', 'Value'],
              ['A', { number: number as number, style: 2 }],
            ],
          },
          [code],
        ),
      ),
    ];
    return row[0]!.replace('Item: A; Value: ', '');
  };
  it.each([
    ['0.0%', 0.155, '15.5%'],
    ['h:mm', 0.375, '9:00'],
    ['hh:mm:ss', 0.999_988_426, '23:59:59'],
    ['[h]:mm', 1.5, '36:00'],
    ['h:mm AM/PM', 0.75, '6:00 PM'],
    ['dd.mm.yyyy', 45_383, '01.04.2024'],
    ['d. mmmm yyyy', 45_383, '1. April 2024'],
    ['dd/mm/yy hh:mm', 45_383.5, '01/04/2024 12:00'],
    ['mm:ss', 0.001, '01:26'],
    ['[$-409]mmmm yyyy', 45_383, 'April 2024'],
    ['yyyy"-W"', 45_383, '2024-W'],
    ['00000', 123, '00123'],
    ['#,##0.00 "EUR";[Red]-#,##0.00', -1_234.5, '-1,234.50 EUR'],
    ['General', '1.2345678901234568E+17', '123456789012345680'],
    ['General', '4111111111111111111', '4111111111111111111'],
    ['General', 0.1 + 0.2, '0.3'],
    ['General', 1e-7, '1e-7'],
  ])('in the format %s', (code, number, expected) => {
    expect(shown(code, number)).toBe(expected);
  });
});

describe('text that a workbook hides', () => {
  const styles =
    '<fonts><font/><font><strike/></font></fonts><cellXfs><xf numFmtId="0" fontId="0"/><xf numFmtId="0" fontId="1"/></cellXfs>';
  const texts = '<si><r><rPr><strike/></rPr><t>90</t></r><r><t>70 crowns</t></r></si>';
  const sheet =
    '<cols><col min="3" max="3" hidden="1"/></cols><sheetData>' +
    `<row r="1">${text('A1', 'Item')}${text('B1', 'Fee')}${text('C1', 'Cost')}</row>` +
    `<row r="2">${text('A2', 'Mast')}<c r="B2" t="s"><v>0</v></c>${text('C2', '5')}</row>` +
    `<row r="3">${text('A3', 'Keel')}${text('B3', '80', 1)}</row><row r="4" hidden="1">${text('A4', 'Oar')}${text('B4', '8')}</row></sheetData>`;
  const bytes = workbook(
    [
      ['Open', sheet],
      ['Salaries', data(text('A1', 'x')), 'veryHidden'],
    ],
    styles,
    texts,
  );

  it('is left out, and named', () => {
    expect(rowsOf(bytes)).toEqual(['Item: Mast; Fee: 70 crowns', 'Item: Keel']);
    expect(read(bytes).warnings?.map(({ message }) => message)).toEqual([
      '1 hidden rows and 1 hidden columns of the sheet Open were left out.',
      'The hidden sheet Salaries was left out.',
    ]);
  });

  it('stays with marks for a sender that keeps revisions', () => {
    expect(rowsOf(bytes, { keepRevisions: true })).toEqual([
      'Item: Mast; Fee: ~~90~~ 70 crowns; [hidden, Cost]: [hidden: 5]',
      'Item: Keel; Fee: ~~80~~',
      'Item: [hidden: Oar]; Fee: [hidden: 8]',
      'x',
    ]);
  });

  it('is shown by a filter', () => {
    const filtered = `<sheetData><row>${text('A1', 'Item')}</row><row hidden="1">${text('A2', 'Oar')}</row></sheetData><autoFilter ref="A1:A2"><filterColumn colId="0"/></autoFilter>`;
    expect(rowsOf(workbook([['One', filtered]]))).toEqual(['Item: Oar']);
  });
});

it('names the formulas without a stored value', () => {
  const { warnings } = read(workbook([['One', data('<c t="str"><v>Sum</v></c>', '<c><f>1+1</f></c>')]]));
  expect(warnings).toMatchObject([
    { code: 'formula_without_value', message: expect.stringContaining('sheet One') as string },
  ]);
});
