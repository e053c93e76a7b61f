import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { lines, makePdf } from '../../../../../test/fixtures/dataprep/make-pdf.js';
import { makeTar } from '../../../../../test/fixtures/dataprep/make-tar.js';
import { makeZip } from '../../../../../test/fixtures/dataprep/make-zip.js';
import { readDocument } from '../read-document.js';

const limits = { maxPages: 5, maxUnpackedBytes: 1_000_000, maxCharacters: 1_000_000 };
const read = (filename: string, bytes: Uint8Array) => readDocument({ filename, mimeType: '', bytes }, limits);
const outline = async (filename: string, bytes: Uint8Array) =>
  (await read(filename, bytes)).blocks.map(
    ({ kind, level, text }) => `${level ? `h${level}` : kind} ${text}`,
  );

const files = { 'docs/a.md': '# Mast\n\nIt is 14 m.', 'b.csv': 'Boat,Berth\nFrida,B5' };
const texts = [
  'h1 x/docs/a.md',
  'h2 Mast',
  'paragraph It is 14 m.',
  'h1 x/b.csv',
  'table-row Boat: Frida; Berth: B5',
];

describe('archives', () => {
  it.each([
    ['x.zip', makeZip(files)],
    ['x.tar', makeTar(files)],
    ['x.tar.gz', gzipSync(makeTar(files))],
    ['x.tgz', gzipSync(makeTar(files))],
    ['x', makeZip(files)],
  ])('%s is a folder whose files have readers of their own', async (filename, bytes) => {
    expect(await outline(filename, bytes)).toEqual(texts.map((text) => text.replace('x/', `${filename}/`)));
    expect((await read(filename, bytes)).facts).toEqual({ tables: 1, files: 2 });
  });

  it('reads a packed file by the name without .gz', async () => {
    expect(await outline('a.csv.gz', gzipSync(files['b.csv']))).toEqual([
      'h1 a.csv.gz/a.csv',
      'table-row Boat: Frida; Berth: B5',
    ]);
  });

  it('reads archives within archives, and files that are not packed', async () => {
    const pdf = makePdf([lines(['The pump is green.'])]);
    const bytes = makeTar({ 'in/b.zip': makeZip(files), 'c.pdf': pdf });
    expect(await outline('a.tar', bytes)).toEqual([
      ...texts.map((text) => text.replace('x/', 'a.tar/in/b.zip/')),
      'h1 a.tar/c.pdf',
      'paragraph The pump is green.',
    ]);
    expect((await read('a.tar', bytes)).facts).toEqual({ pages: 1, tables: 1, files: 3 });
  });

  it('names the files that cannot be read', async () => {
    const { warnings, facts } = await read(
      'a.zip',
      makeZip({ ...files, 'p.exe': '\x7fELF', '.DS_Store': 'x' }),
    );
    expect(warnings).toEqual([
      {
        code: 'entry_skipped',
        message: expect.stringMatching(/^a\.zip\/p\.exe was not read: it is a program/),
      },
    ]);
    expect(facts).toMatchObject({ files: 2 });
  });

  it('passes the warnings of its files on, with their names', async () => {
    const { warnings } = await read('a.zip', makeZip({ 'b.org': 'Text.\n#+INCLUDE: "c.org"' }));
    expect(warnings).toMatchObject([
      { code: 'include_skipped', message: expect.stringMatching(/^a\.zip\/b\.org: /) },
    ]);
  });

  it('says that a file is protected by a password', async () => {
    const zip = makeZip({ 'a.txt': 'x', 'b.txt': 'Secret.' });
    zip[zip.lastIndexOf('PK\x01\x02', undefined, 'latin1') + 8]! |= 1;
    expect((await read('a.zip', zip)).warnings).toMatchObject([
      { message: 'a.zip/b.txt was not read: it is protected by a password' },
    ]);
  });

  it.each(['../../etc/a.txt', '/etc/a.txt', '..\\..\\etc\\a.txt', 'x/../../etc/a.txt'])(
    'keeps the path %s within the archive',
    async (path) => {
      expect(await outline('a.tar', makeTar({ [path]: 'Text.' }))).toEqual([
        'h1 a.tar/etc/a.txt',
        'paragraph Text.',
      ]);
    },
  );
});

describe('hostile archives', () => {
  it('stop at their limits', async () => {
    const bomb = makeZip({ 'a.txt': 'Text.', 'b.txt': 'x'.repeat(2_000_000) });
    expect((await read('a.zip', bomb)).warnings).toMatchObject([
      { message: expect.stringContaining('unpacks to more') },
    ]);
    await expect(read('a.gz', gzipSync('x'.repeat(2_000_000)))).rejects.toMatchObject({
      code: 'unsupported_file',
    });
    const many = Object.fromEntries(Array.from({ length: 1_002 }, (_unused, at) => [`${at}.txt`, 'Text.']));
    const { facts, warnings } = await read('a.zip', makeZip(many));
    expect(facts).toMatchObject({ files: 1_000 });
    expect(warnings).toHaveLength(2);
  });

  it('are read to a depth only', async () => {
    let bytes: Uint8Array = makeZip({ 'a.txt': 'Text.' });
    for (let depth = 0; depth < 6; depth += 1) bytes = makeZip({ 'b.zip': bytes });
    await expect(read('a.zip', bytes)).rejects.toMatchObject({
      message: expect.stringContaining('nested too deeply'),
    });
  });

  it.each([
    ['a cut-off tar', makeTar({ 'a.txt': 'x'.repeat(5_000) }).subarray(0, 2_000), 'cut off'],
    ['an empty zip', makeZip({}), ''],
    ['a cut-off gzip', gzipSync('Text.').subarray(0, 15), 'damaged'],
  ])('%s is refused', async (_what, bytes, reason) => {
    await expect(read('a.zip', bytes)).rejects.toMatchObject({ message: expect.stringContaining(reason) });
  });
});
