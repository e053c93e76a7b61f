import { describe, expect, it } from 'vitest';
import { makeDocx, paragraph, table } from '../../../../test/fixtures/dataprep/make-docx.js';
import { lines, makePdf } from '../../../../test/fixtures/dataprep/make-pdf.js';
import { makeZip } from '../../../../test/fixtures/dataprep/make-zip.js';
import { readDocument } from './read-document.js';

const limits = { maxPages: 5, maxUnpackedBytes: 1_000_000, maxCharacters: 1_000_000 };
const read = (filename: string, bytes: Uint8Array) => readDocument({ filename, mimeType: '', bytes }, limits);
const outline = async (filename: string, bytes: Uint8Array) =>
  (await read(filename, bytes)).blocks.map(({ kind, level, text, page }) => [
    level ? `h${level}` : kind,
    text,
    ...(page ? [page] : []),
  ]);

describe('docx', () => {
  it('keeps headings, paragraphs and tables', async () => {
    const bytes = makeDocx([
      paragraph('The title', 'Title'),
      paragraph('Intro &amp; more.'),
      paragraph('Part', 'Heading2'),
      paragraph('Body.'),
      table([
        ['Name', 'Role'],
        ['Ada', 'Engineer'],
      ]),
    ]);
    expect(await outline('a.docx', bytes)).toEqual([
      ['h1', 'The title'],
      ['paragraph', 'Intro & more.'],
      ['h2', 'Part'],
      ['paragraph', 'Body.'],
      ['table-row', 'Name; Role'],
      ['table-row', 'Ada; Engineer'],
    ]);
  });

  it('is recognized whatever its name', async () => {
    expect(await outline('upload', makeDocx([paragraph('Hello.')]))).toEqual([['paragraph', 'Hello.']]);
  });

  it('refuses what unpacks to more than the limit, whatever sizes it declares', async () => {
    const bomb = makeDocx([paragraph('x'.repeat(2_000_000))]);
    expect(bomb.length).toBeLessThan(20_000);
    await expect(read('bomb.docx', bomb)).rejects.toMatchObject({
      code: 'unsupported_file',
      message: expect.stringContaining('unpacks to more than'),
    });
  });

  it.each([['readme.txt', 'another zip archive']])('says what a zip with %s is', async (entry, what) => {
    await expect(read('a.docx', makeZip({ [entry]: 'x' }))).rejects.toMatchObject({
      code: 'unsupported_file',
      message: expect.stringContaining(what),
    });
  });
});

describe('pdf', () => {
  it('reads headings, joined lines, rows and bullets in order, with pages', async () => {
    const first = [
      ...lines(['Annual report'], 20, 740),
      ...lines(
        ['The company grew in every region and its trans-', 'port business doubled this year.'],
        12,
        700,
      ),
      ...lines(['A second paragraph stands apart.'], 12, 640),
      ...lines(
        ['\u2022 a point', '\u2022 another point'].map((text) => text.replace('\u2022', '\x95')),
        12,
        610,
      ),
      { text: 'Region', x: 72, y: 560, size: 12 },
      { text: 'Revenue', x: 300, y: 560, size: 12 },
      { text: 'North', x: 72, y: 545, size: 12 },
      { text: '12 million', x: 300, y: 545, size: 12 },
      ...lines(['This sentence goes on'], 12, 500),
    ];
    const second = lines(['over the page (and ends here).'], 12, 740);
    expect(await outline('report.pdf', makePdf([first, second], 'Report 2026'))).toEqual([
      ['h1', 'Annual report', 1],
      ['paragraph', 'The company grew in every region and its transport business doubled this year.', 1],
      ['paragraph', 'A second paragraph stands apart.', 1],
      ['list-item', 'a point', 1],
      ['list-item', 'another point', 1],
      ['table-row', 'Region; Revenue', 1],
      ['table-row', 'North; 12 million', 1],
      ['paragraph', 'This sentence goes on over the page (and ends here).', 1],
    ]);
    expect((await read('report.pdf', makePdf([first, second], 'Report 2026'))).title).toBe('Report 2026');
  });

  it('drops page headers and footers that come back', async () => {
    const page = (number: number) => [
      ...lines(['Confidential'], 9, 780),
      ...lines([`Content of page number ${number}.`], 12, 700),
      ...lines([`Page ${number}`], 9, 30),
    ];
    expect(await outline('a.pdf', makePdf([1, 2, 3, 4].map(page)))).toEqual(
      [1, 2, 3, 4].map((number) => ['paragraph', `Content of page number ${number}.`, number]),
    );
  });

  it('refuses scans and too many pages', async () => {
    await expect(read('scan.pdf', makePdf([[]]))).rejects.toMatchObject({
      message: expect.stringContaining('may be a scan'),
    });
    const long = makePdf(Array.from({ length: 6 }, () => lines(['x'])));
    await expect(read('long.pdf', long)).rejects.toMatchObject({
      message: expect.stringContaining('6 pages'),
    });
  });
});
