import { describe, expect, it } from 'vitest';
import { makeRawPdf, show, type RawPage } from '../../../../../test/fixtures/dataprep/make-pdf.js';
import { readDocument } from '../read-document.js';

type Options = Parameters<typeof makeRawPdf>[1];

const read = (pages: (string | RawPage)[], options?: Options) =>
  readDocument({
    filename: 'a.pdf',
    mimeType: '',
    bytes: makeRawPdf(
      pages.map((page) => (typeof page === 'string' ? { content: page } : page)),
      options,
    ),
  });
const texts = async (pages: (string | RawPage)[], options?: Options) =>
  (await read(pages, options)).blocks.map(({ text }) => text);
/** Lines of text below each other. */
const column = (lines: string[], x: number, top = 700, pitch = 14) =>
  lines.map((line, index) => show(line, x, top - index * pitch)).join('');

describe('fonts', () => {
  /** A font of a predefined table of codes, which the file does not contain. */
  const cjkFont = (encoding: string, ordering: string) =>
    `<< /Type /Font /Subtype /Type0 /BaseFont /X /Encoding /${encoding} /DescendantFonts [<< /Type /Font ` +
    `/Subtype /CIDFontType0 /BaseFont /X /CIDSystemInfo << /Registry (Adobe) /Ordering (${ordering}) /Supplement 2 >> ` +
    '/FontDescriptor << /Type /FontDescriptor /FontName /X /Flags 4 /FontBBox [0 0 1000 1000] /ItalicAngle 0 ' +
    '/Ascent 800 /Descent -200 /CapHeight 700 /StemV 80 >> >>] >>';

  it.each([
    ['UniGB-UCS2-H', 'GB1', '4ed35e937684', '仓库的'],
    ['90ms-RKSJ-H', 'Japan1', '91718cc9', '倉庫'],
    ['GBK-EUC-H', 'GB1', 'b2d6bfe2', '仓库'],
    ['ETen-B5-H', 'CNS1', 'addcae77', '倉庫'],
    ['KSCms-UHC-H', 'Korea1', 'c3a2b0ed', '창고'],
    ['UniJIS-UTF16-H', 'Japan1', '50095eab', '倉庫'],
  ])('with the table of codes %s are read', async (encoding, ordering, codes, text) => {
    const page = `BT /F3 12 Tf 72 700 Td <${codes}> Tj ET ${show('Page 1 of the list', 72, 650)}`;
    expect(await texts([page], { fonts: [cjkFont(encoding, ordering)] })).toEqual([
      text,
      'Page 1 of the list',
    ]);
  });

  it('that do not say which characters they show are named', async () => {
    const lost =
      '<< /Type /Font /Subtype /Type3 /FontBBox [0 0 1 1] /FontMatrix [1 0 0 1 0 0] /CharProcs << >> ' +
      '/Encoding << /Differences [1 /g1 2 /g2] >> /FirstChar 1 /LastChar 2 /Widths [1 1] >>';
    const page = 'BT /F3 12 Tf 72 700 Td <01020102> Tj ET ';
    await expect(read([page], { fonts: [lost] })).rejects.toThrow('do not say which characters');
    const { warnings } = await read([page + show('Readable.', 72, 600)], { fonts: [lost] });
    expect(warnings).toEqual([
      { code: 'part_unreadable', message: expect.stringContaining('4 characters on page 1') as string },
    ]);
  });

  it.each([
    ['t_t', 'setting', 'se\x82ing'],
    ['f_f_i.alt', 'office', 'o\x82ce'],
    ['uni00660069', 'fishing', '\x82shing'],
  ])('with the glyph %s give its letters', async (name, text, codes) => {
    const font =
      `<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding << /BaseEncoding /WinAnsiEncoding ` +
      `/Differences [130 /${name}] >> >>`;
    expect(await texts([show(codes, 72, 700, { font: 'F3' })], { fonts: [font] })).toEqual([text]);
  });
});

describe('form fields', () => {
  const widget = (entries: string, rect: number[]) =>
    `<< /Type /Annot /Subtype /Widget ${entries} /Rect [${rect.join(' ')}] /F 4 >>`;

  it('have their values after their labels', async () => {
    const content =
      show('Name:', 72, 700) + show('Class', 72, 670) + show('Insured:', 72, 640) + show('Address', 72, 600);
    const annotations = [
      widget('/FT /Tx /T (a) /V (Ingrid Solvang)', [150, 690, 400, 712]),
      widget('/FT /Ch /T (b) /V (c) /Opt [[(c) (Cargo)] [(f) (Ferry)]]', [150, 660, 400, 682]),
      widget('/FT /Btn /T (c) /V /Yes /AS /Yes', [150, 638, 162, 650]),
      widget('/FT /Tx /T (d) /V (9 Quay)', [72, 572, 400, 594]),
      widget('/FT /Tx /T (e) /V (hidden)', [72, 500, 400, 520]).replace('/F 4', '/F 2'),
    ];
    expect(await texts([{ content, annotations }])).toEqual([
      'Name: Ingrid Solvang',
      'Class: Cargo',
      'Insured: yes',
      'Address: 9 Quay',
    ]);
  });

  it('to tick may have their labels on the right', async () => {
    const content = show('Cargo', 90, 700) + show('Ferry boat', 190, 700);
    const annotations = [
      widget('/FT /Btn /T (a) /V /Off /AS /Off', [72, 698, 84, 710]),
      widget('/FT /Btn /T (b) /V /On /AS /On', [172, 698, 184, 710]),
    ];
    expect(await texts([{ content, annotations }])).toEqual(['Cargo: no Ferry boat: yes']);
  });

  it('and texts put on the page are read', async () => {
    const annotations = [
      '<< /Type /Annot /Subtype /FreeText /Contents (The keel is cracked.) /Rect [150 600 400 640] /F 4 >>',
    ];
    expect(await texts([{ content: show('Report', 72, 700), annotations }])).toEqual([
      'Report',
      'The keel is cracked.',
    ]);
  });
});

describe('columns', () => {
  const left = [
    'The eastern pier was built in',
    '1911 from spruce logs. It was',
    'closed after the flood of',
    '1953 for good.',
  ];
  const right = [
    'The western pier is made of',
    'steel. It opened in 1974 and',
    'carries two cranes, each for',
    'forty tons of load.',
  ];
  const joined = [left.join(' '), right.join(' ')];

  it('are read one after the other, whichever way they are painted', async () => {
    expect(await texts([column(left, 72) + column(right, 320)])).toEqual(joined);
    const byRow = left.map(
      (line, index) => column([line], 72, 700 - index * 14) + column([right[index]!], 320, 700 - index * 14),
    );
    expect(await texts([byRow.join('')])).toEqual(joined);
    expect(await texts([column(left, 72) + column(right, 320, 693)])).toEqual(joined);
  });

  it('begin below a title over both of them', async () => {
    const title = show('The piers of the harbour and what they are used for in these years', 72, 740);
    expect(await texts([title + column(left, 72) + column(right, 320)])).toEqual([
      'The piers of the harbour and what they are used for in these years',
      ...joined,
    ]);
  });
});

describe('directions', () => {
  const lines = ['The annex stores the sails.', 'Its key hangs in room 9.', 'It is locked at noon.'];

  it.each([
    ['upwards', '0 1 -1 0', (index: number): [number, number] => [100 + index * 14, 72]],
    ['downwards', '0 -1 1 0', (index: number): [number, number] => [500 - index * 14, 700]],
    ['upside down', '-1 0 0 -1', (index: number): [number, number] => [500, 100 + index * 14]],
  ])('of text that runs %s keep lines and words', async (_name, matrix, at) => {
    const content = lines.map((line, index) => show(line, ...at(index), { matrix })).join('');
    expect(await texts([content])).toEqual([lines.join(' ')]);
  });

  it('of a note at the margin keep it apart from the text', async () => {
    const note = show('Approved', 30, 300, { matrix: '0 1 -1 0' });
    expect(
      await texts([show('The note follows.', 72, 700) + note + show('A berth costs 64.', 72, 686)]),
    ).toEqual(['The note follows. A berth costs 64.', 'Approved']);
  });
});

describe('letters', () => {
  it('that are painted twice are read once', async () => {
    const twice = [0, 0.3].map((shift) => show('Anchoring is forbidden.', 72 + shift, 700)).join('');
    expect(await texts([twice])).toEqual(['Anchoring is forbidden.']);
    expect(await texts([show('No', 72, 700) + show('No', 90, 700)])).toEqual(['No No']);
  });

  it('that are spaced out are words', async () => {
    expect(await texts([show('N O T I C E', 72, 700)])).toEqual(['NOTICE']);
    expect(await texts([`BT /F1 12 Tf 5 Tc 72 700 Td (Quiet please) Tj ET`])).toEqual(['Quiet please']);
    const single = 'WATER'
      .split('')
      .map((letter, index) => show(letter, 72 + index * 20, 700))
      .join('');
    expect(await texts([single])).toEqual(['WATER']);
  });
});

it('puts the title of a page in front of text that is turned', async () => {
  const turned = ['The anchor holds the boat in the', 'harbour until the winter ends.'].map((line, index) =>
    show(line, 500 + index * 14, 100, { matrix: '0 1 -1 0' }),
  );
  expect(await texts([turned.join('') + show('Harbour rules', 72, 740, { size: 20 })])).toEqual([
    'Harbour rules',
    'The anchor holds the boat in the harbour until the winter ends.',
  ]);
});

describe('tables', () => {
  it('without rules have their headers with each row, and wrapped cells whole', async () => {
    const content =
      column(['Boat'], 72) +
      column(['Remark'], 200) +
      column(['Sigrun'], 72, 670) +
      column(['needs a new mast', 'and a second anchor'], 200, 670) +
      column(['Frida'], 72, 626) +
      column(['in good order'], 200, 626);
    expect(await texts([content])).toEqual([
      'Boat: Sigrun; Remark: needs a new mast and a second anchor',
      'Boat: Frida; Remark: in good order',
    ]);
  });

  it('with narrow columns have cells', async () => {
    const rows = [
      ['Boat', 'Crew', 'Year'],
      ['Sigrun', '4', '1998'],
      ['Frida', '2', '2004'],
      ['Tove', '3', '2011'],
    ];
    const content = rows.map((row, at) =>
      row.map((cell, index) => show(cell, 72 + index * 42, 700 - at * 14)).join(''),
    );
    expect(await texts([content.join('')])).toEqual([
      'Boat: Sigrun; Crew: 4; Year: 1998',
      'Boat: Frida; Crew: 2; Year: 2004',
      'Boat: Tove; Crew: 3; Year: 2011',
    ]);
  });

  /** Rows of cells with a column at each place. */
  const rowsAt = (places: number[], top: number, pitch: number, rows: string[][]) =>
    rows
      .flatMap((row, at) =>
        row.map((cell, index) => (cell ? show(cell, places[index]!, top - at * pitch) : '')),
      )
      .join('');

  it('without rules and with little white beside a long cell keep all their rows', async () => {
    const text = column(
      ['The office of the harbour writes this', 'list in the spring of each year.'],
      66,
      730,
    );
    const table = rowsAt([72, 181, 260], 696, 14, [
      ['Boat', 'Harbour', 'Fee'],
      ['Sigrun', 'Tove', '12'],
      ['Frida', 'Maren', '40'],
      ['Hilda', 'Tove', '25'],
      ['Boat of the old pier', 'Maren', '31'],
    ]);
    expect(await texts([`${text}${table}${column(['It costs nothing to read.'], 66, 620)}`])).toEqual([
      'The office of the harbour writes this list in the spring of each year.',
      'Boat: Sigrun; Harbour: Tove; Fee: 12',
      'Boat: Frida; Harbour: Maren; Fee: 40',
      'Boat: Hilda; Harbour: Tove; Fee: 25',
      'Boat: Boat of the old pier; Harbour: Maren; Fee: 31',
      'It costs nothing to read.',
    ]);
  });

  it('are not seen in justified text, whose wide spaces stand below each other by chance', async () => {
    const lines = ['The keeper writes a list', 'of the boats in each of', 'all harbours of the sea.'];
    const content = lines.map((line, at) => `${14 - at} Tw ${show(line, 72, 700 - at * 14)}`);
    expect((await read([content.join('')])).blocks).toMatchObject([{ kind: 'paragraph' }]);
  });

  it('whose rows are hardly further apart than the lines of their cells have whole cells', async () => {
    const line = 12;
    const places = [72, 200, 330];
    const row = (top: number, cells: [string, string?][]) =>
      cells.map(([first, rest], index) =>
        [show(first, places[index]!, top), rest ? show(rest, places[index]!, top - line) : ''].join(''),
      );
    const content = [
      ...row(700, [['Boat'], ['Remark'], ['Fee']]),
      ...row(686, [['Sigrun'], ['needs a new mast', 'and an anchor'], ['12']]),
      ...row(660, [['Frida', 'of Tromso'], ['in good order'], ['40']]),
      ...row(634, [['Hilda'], ['sold'], ['31']]),
      ...row(620, [['Tove'], ['rests in the harbour', 'until spring'], ['25']]),
    ];
    expect(await texts([content.join('')])).toEqual([
      'Boat: Sigrun; Remark: needs a new mast and an anchor; Fee: 12',
      'Boat: Frida of Tromso; Remark: in good order; Fee: 40',
      'Boat: Hilda; Remark: sold; Fee: 31',
      'Boat: Tove; Remark: rests in the harbour until spring; Fee: 25',
    ]);
  });

  it('with rules have cells over several rows and columns', async () => {
    const line = (x1: number, y1: number, x2: number, y2: number) => `${x1} ${y1} m ${x2} ${y2} l S\n`;
    const frame = [
      line(72, 700, 372, 700),
      line(72, 680, 372, 680),
      line(172, 660, 372, 660),
      line(72, 640, 372, 640),
      line(72, 620, 372, 620),
      line(72, 700, 72, 620),
      line(372, 700, 372, 620),
      line(172, 700, 172, 620),
      line(272, 700, 272, 640),
    ].join('');
    const cells: [string, number, number][] = [
      ['Region', 76, 686],
      ['Season', 176, 686],
      ['Price', 276, 686],
      ['North', 76, 666],
      ['Summer', 176, 666],
      ['40 crowns', 276, 666],
      ['Winter', 176, 646],
      ['25 crowns', 276, 646],
      ['South', 76, 626],
      ['closed for repair', 176, 626],
    ];
    expect(await texts([frame + cells.map(([text, x, y]) => show(text, x, y)).join('')])).toEqual([
      'Region: North; Season: Summer; Price: 40 crowns',
      'Region: North; Season: Winter; Price: 25 crowns',
      'Region: South; Season: closed for repair; Price: closed for repair',
    ]);
  });

  it('go on across pages with their headers', async () => {
    const row = (cells: string[], y: number, font = 'F1') =>
      cells.map((cell, index) => show(cell, 72 + index * 120, y, { font })).join('');
    const head = row(['Boat', 'Berth', 'Fee'], 700, 'F2');
    const first = head + row(['Sigrun', 'B4', '12'], 680) + row(['Frida', 'B5', '13'], 660);
    const blocks = (pages: string[]) =>
      read(pages).then((document) => document.blocks.map(({ text, page }) => [page, text]));
    const expected = [
      [1, 'Boat: Sigrun; Berth: B4; Fee: 12'],
      [1, 'Boat: Frida; Berth: B5; Fee: 13'],
      [2, 'Boat: Tove; Berth: C1; Fee: 14'],
      [2, 'Boat: Nora; Berth: C2; Fee: 15'],
    ];
    const rest = row(['Tove', 'C1', '14'], 680) + row(['Nora', 'C2', '15'], 660);
    expect(await blocks([first, head + rest])).toEqual(expected);
    expect(await blocks([first, rest])).toEqual(expected);
  });
});

describe('parts of pages', () => {
  it('at the edges are left out where they repeat, and text at the same height stays', async () => {
    const page = (number: number) =>
      show('Harbour rules', 72, 760) +
      column([`Rule ${number} says that a boat must leave the har-`, 'bour before noon.'], 72) +
      show(`Page ${number} of 3`, 300, 30);
    expect(await texts([1, 2, 3].map(page))).toEqual(
      [1, 2, 3].map((number) => `Rule ${number} says that a boat must leave the harbour before noon.`),
    );
  });

  it('at the foot are notes after the text that refers to them', async () => {
    const content =
      show('The fee is 64 crowns', 72, 700) +
      show('1', 186, 704, { size: 7 }) +
      show('per night.', 194, 700) +
      show('Pets are free.', 72, 660) +
      show('1', 72, 103, { size: 6 }) +
      show('In May only.', 78, 100, { size: 9 });
    const { blocks } = await read([content]);
    expect(blocks.map(({ kind, text }) => [kind, text])).toEqual([
      ['paragraph', 'The fee is 64 crowns¹ per night.'],
      ['note', '¹ In May only.'],
      ['paragraph', 'Pets are free.'],
    ]);
  });

  it('that the outline names are headings', async () => {
    const content =
      show('Fees', 72, 700) +
      show('A berth costs 64.', 72, 670) +
      show('Times', 72, 640) +
      show('Open at noon.', 72, 610);
    const { blocks } = await read([content], {
      outline: [
        ['1. Fees', 1],
        ['Times', 1],
      ],
    });
    expect(blocks.map(({ kind, level, text }) => [kind, level, text])).toEqual([
      ['paragraph', undefined, 'Fees'],
      ['paragraph', undefined, 'A berth costs 64.'],
      ['heading', 1, 'Times'],
      ['paragraph', undefined, 'Open at noon.'],
    ]);
  });
});
