import { describe, expect, it } from 'vitest';
import { MegaNestError } from '#platform/contracts';
import { readDocument } from './read-document.js';

const read = (filename: string, content: string | Uint8Array, mimeType = '') =>
  readDocument({
    filename,
    mimeType,
    bytes: typeof content === 'string' ? new TextEncoder().encode(content) : content,
  });

const outline = async (filename: string, content: string | Uint8Array, mimeType = '') =>
  (await read(filename, content, mimeType)).blocks.map(({ kind, level, text }) => [
    level ? `h${level}` : kind,
    text,
  ]);

const refusal = async (filename: string, content: string | Uint8Array, mimeType = '') => {
  const error: unknown = await read(filename, content, mimeType).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(MegaNestError);
  expect(error).toMatchObject({ code: 'unsupported_file', status: 400, param: 'files' });
  expect((error as Error).message).toContain(filename);
  return (error as Error).message;
};

describe('plain text', () => {
  it('joins wrapped lines, keeps deliberate line ends, finds underlined headings and lists', async () => {
    const text = [
      'Report',
      '======',
      'This paragraph was wrapped by its author at a',
      'margin and goes on here.',
      '',
      'Name: Ada Lovelace',
      'Born: 10 December 1815 in London, United Kingdom',
      'Work: Mathematician',
      '',
      '- first item',
      '- second item',
    ].join('\r\n');
    expect(await outline('a.txt', text)).toEqual([
      ['h1', 'Report'],
      ['paragraph', 'This paragraph was wrapped by its author at a margin and goes on here.'],
      ['paragraph', 'Name: Ada Lovelace'],
      ['paragraph', 'Born: 10 December 1815 in London, United Kingdom'],
      ['paragraph', 'Work: Mathematician'],
      ['list-item', 'first item'],
      ['list-item', 'second item'],
    ]);
  });

  it('joins the lines of a text that is wrapped unevenly, and finds its headings without marks', async () => {
    const text = [
      'SOCIETY OF THE MILL',
      'Minutes of the meeting on Tuesday 11 June',
      'at the home of the chair',
      '',
      '1. Minutes',
      'The minutes of 7 May were accepted.',
      '',
      '2. Scales',
      'The scales were installed on 25 May on mills 2 and 7. Mill 7 ground 4.6 kg in one day',
      'during the harvest. The data can be seen',
      'on the website.',
      '1. Ask for a price',
      '2. Buy another one',
      '',
      'Chair: Ada Lovelace',
      'Next meeting: 9 July, at the same place and the same hour',
      '',
      'CLEANING',
      '',
      'Wipe it.',
    ].join('\n');
    expect(await outline('minutes.txt', text)).toEqual([
      ['h2', 'SOCIETY OF THE MILL'],
      ['paragraph', 'Minutes of the meeting on Tuesday 11 June at the home of the chair'],
      ['h3', '1. Minutes'],
      ['paragraph', 'The minutes of 7 May were accepted.'],
      ['h3', '2. Scales'],
      [
        'paragraph',
        'The scales were installed on 25 May on mills 2 and 7. Mill 7 ground 4.6 kg in one day during the harvest. The data can be seen on the website.',
      ],
      ['list-item', '1. Ask for a price'],
      ['list-item', '2. Buy another one'],
      ['paragraph', 'Chair: Ada Lovelace'],
      ['paragraph', 'Next meeting: 9 July, at the same place and the same hour'],
      ['h2', 'CLEANING'],
      ['paragraph', 'Wipe it.'],
    ]);
  });

  it('reads many lines without a blank one', async () => {
    const lines = 'INFO a sack is ground\n'.repeat(140_000);
    expect((await read('mill.log', lines)).blocks).toHaveLength(140_000);
    const headings = 'Mill\n----\nIt grinds.\n'.repeat(50_000);
    expect((await read('mill.txt', headings)).blocks).toHaveLength(100_000);
  });

  it('takes a line above deeper ones for the heading of them, as manuals are set', async () => {
    const text = [
      'MILL(1)            Manual',
      '',
      'OPTIONS',
      '       Options come first.',
      '',
      '       -g, --grain <kind>',
      '              Grinds this kind of grain, which has to lie in the hopper before the',
      '              mill is started.',
      '',
      '              Given twice, the last one counts.',
      '',
      '       -q     Says nothing while it grinds, and nothing about what is left in the hopper',
      '              either.',
      '',
      '       More of them are in the configuration.',
      '',
      'FILES',
      '       mill.conf',
    ].join('\n');
    expect(await outline('a.txt', text)).toEqual([
      ['h1', 'MILL(1) Manual'],
      ['h3', 'OPTIONS'],
      ['paragraph', 'Options come first.'],
      ['h4', '-g, --grain <kind>'],
      ['paragraph', 'Grinds this kind of grain, which has to lie in the hopper before the mill is started.'],
      ['paragraph', 'Given twice, the last one counts.'],
      ['h4', '-q'],
      ['paragraph', 'Says nothing while it grinds, and nothing about what is left in the hopper either.'],
      ['h4', ''],
      ['paragraph', 'More of them are in the configuration.'],
      ['h3', 'FILES'],
      ['paragraph', 'mill.conf'],
    ]);
  });

  it('takes no line of a paragraph, a program or a verse that is set in for a heading', async () => {
    const paragraph = '  The first line of this paragraph is set in,\nand the others are not.';
    const program = 'while (more) {\n    grind();\n}';
    const hanging =
      'Ada Lovelace wrote a book about mills and their owners in 1843,\n    which was printed in London.';
    for (const text of [paragraph, program, hanging])
      expect((await outline('a.txt', text)).map(([kind]) => kind)).not.toContain('h3');
  });
});

describe('encodings', () => {
  it.each([
    ['UTF-8 with a mark', Buffer.from('\uFEFFGrüße', 'utf8')],
    ['UTF-16 with a mark', Buffer.from('\uFEFFGrüße', 'utf16le')],
    ['UTF-16 without a mark', Buffer.from('Grüße', 'utf16le')],
    ['big-endian UTF-16', Buffer.from('\uFEFFGrüße', 'utf16le').swap16()],
  ])('reads %s', async (_name, bytes) => {
    expect(await outline('a.txt', bytes)).toEqual([['paragraph', 'Grüße']]);
  });

  it.each([
    ['the page', 'a.html', '<html><meta charset="Shift_JIS"><p>\x93\xfa\x96{', ''],
    ['the server', 'a.txt', '\x93\xfa\x96{', 'text/plain; charset=Shift_JIS'],
  ])('believes what %s declares', async (_name, filename, latin1, mimeType) => {
    const document = await read(filename, Buffer.from(latin1, 'latin1'), mimeType);
    expect(document).toMatchObject({ blocks: [{ text: '日本' }] });
    expect(document.assumedEncoding).toBeUndefined();
  });

  it('reads what is no UTF-8 as Windows-1252 and says so', async () => {
    const document = await read('a.txt', Buffer.from('Gr\xfc\xdfe', 'latin1'));
    expect(document.blocks[0]?.text).toBe('Grüße');
    expect(document.assumedEncoding).toBe('windows-1252');
  });
});

describe('markdown', () => {
  it('reads a long fence without an end', async () => {
    const text = `${'`'.repeat(5_000)}\n${'some words\n'.repeat(20_000)}`;
    expect((await read('a.md', text)).blocks).toHaveLength(1);
  });

  it('leaves out the marks of site generators, but not in code', async () => {
    const text = [
      '## Installing {#install .wide}',
      '',
      '{{< callout type="info" >}} Version 3 reads version 2. {{< /callout >}}',
      '',
      '{% include note.html %}',
      '',
      ':::note',
      'Write `{{< x >}}` and {braces}.',
      ':::',
      '',
      '```',
      '{{% y %}}',
      '```',
    ].join('\n');
    expect(await outline('a.md', text)).toEqual([
      ['h2', 'Installing'],
      ['paragraph', 'Version 3 reads version 2.'],
      ['paragraph', 'Write {{< x >}} and {braces}.'],
      ['code', '{{% y %}}'],
    ]);
  });

  it('keeps headings, lists, tables and code', async () => {
    const text = [
      '---',
      'title: "The guide"',
      '---',
      '# Start',
      'Some *styled* text with `code`,  ',
      'a [link](https://x.y) and<br>a break.',
      '',
      '1. one',
      '   - nested',
      '2. two',
      '',
      '| Name | Role |',
      '|------|------|',
      '| Ada  | Engineer |',
      '',
      '```sh',
      'npm ci',
      '  npm start',
      '```',
      '',
      '<details><summary>More</summary>Hidden</details>',
    ].join('\n');
    expect(await outline('guide.md', text)).toEqual([
      ['h1', 'Start'],
      ['paragraph', 'Some styled text with code, a link (https://x.y) and a break.'],
      ['list-item', 'one'],
      ['list-item', 'nested'],
      ['list-item', 'two'],
      ['table-row', 'Name: Ada; Role: Engineer'],
      ['code', 'npm ci\n  npm start'],
      ['paragraph', 'More'],
      ['paragraph', 'Hidden'],
    ]);
    expect((await read('guide.md', text)).title).toBe('The guide');
  });
});

describe('html', () => {
  const page = [
    '<!doctype html><html><head><title>Page &amp; title</title><style>p{}</style></head><body>',
    '<nav>Home About</nav><script>alert(1)</script>',
    '<main><h1>Heading <em>one</em></h1><p>First<br>line with <b>bold</b>text.</p>loose text',
    '<ul><li>item <ul><li>inner</li></ul></li></ul><dl><dt>Term</dt><dd>Meaning</dd></dl>',
    '<table><tr><th>Name</th><th>Age</th></tr><tr><td>Ada</td><td>36</td></tr></table>',
    '<pre>a\n  b</pre><p hidden>no</p></main><footer>Imprint</footer></body></html>',
  ].join('\n');

  it('reads the main part as blocks', async () => {
    expect(await outline('page.html', page)).toEqual([
      ['h1', 'Heading one'],
      ['paragraph', 'First line with boldtext.'],
      ['paragraph', 'loose text'],
      ['list-item', 'item'],
      ['list-item', 'inner'],
      ['list-item', 'Term'],
      ['list-item', 'Meaning'],
      ['table-row', 'Name: Ada; Age: 36'],
      ['code', 'a\n  b'],
    ]);
    expect((await read('page.html', page)).title).toBe('Page & title');
  });

  it('is recognized by its content whatever its name', async () => {
    expect((await outline('page.txt', page))[0]).toEqual(['h1', 'Heading one']);
  });
});

describe('json', () => {
  it('reads records as rows, objects as paths and prose as sections', async () => {
    const prose = Array.from({ length: 40 }, (_unused, index) => `word${index}`).join(' ');
    const json = JSON.stringify({
      title: 'Staff',
      tags: ['a', 'b'],
      office: { city: 'Bern', floor: 3, empty: null },
      people: [
        { name: 'Ada', address: { city: 'London' }, langs: ['en', 'fr'] },
        { name: 'Bob', bio: prose },
      ],
    });
    expect(await outline('staff.json', json)).toEqual([
      ['list-item', 'title: Staff'],
      ['list-item', 'tags: a, b'],
      ['h1', 'office'],
      ['list-item', 'office.city: Bern'],
      ['list-item', 'office.floor: 3'],
      ['h1', 'people'],
      ['table-row', 'name: Ada; address.city: London; langs: en, fr'],
      ['h2', 'Bob'],
      ['table-row', 'name: Bob'],
      ['paragraph', prose],
    ]);
  });

  it('reads JSON Lines and names a broken line', async () => {
    expect(await outline('a.jsonl', '{"a":1}\n\n{"a":2}\n')).toEqual([
      ['table-row', 'a: 1'],
      ['table-row', 'a: 2'],
    ]);
    const read = await readDocument({
      filename: 'a.jsonl',
      mimeType: '',
      bytes: Buffer.from('{"a":1}\n{"b":\n{"a":2}'),
    });
    expect(read.blocks.map(({ text }) => text)).toEqual(['a: 1', 'a: 2', '{"b":']);
    expect(read.warnings).toMatchObject([
      { code: 'part_unreadable', message: expect.stringContaining('Line 2 ') },
    ]);
    expect(await refusal('a.jsonl', '\n{"a":\n{"b":')).toContain('line 2');
  });

  it.each([
    ['comments', '{ // one\n "a": "b // c", /* two */ "d": 1 }', ['a: b // c', 'd: 1']],
    ['commas at the end', '{"a": [1, 2,], "b": ",}",}', ['a: 1, 2', 'b: ,}']],
    ['addresses', '// x\n{"a": "https://b.org/c"}', ['a: https://b.org/c']],
  ])('reads JSON with %s', async (_case, source, expected) => {
    expect((await outline('a.json', source)).map(([, text]) => text)).toEqual(expected);
  });

  it('refuses broken and bottomless JSON', async () => {
    expect(await refusal('a.json', '{"a":')).toContain('not a valid json');
    expect(await refusal('a.json', '['.repeat(5000) + ']'.repeat(5000))).toContain('nested too deeply');
  });
});

describe('csv', () => {
  it.each([
    ['a.csv', 'Name,City\n"Ada, Countess",London\nBob,\n'],
    ['a.csv', 'Name;City\r\n"Ada, Countess";London\r\nBob;\r\n'],
    ['a.tsv', '\uFEFFName\tCity\n"Ada, Countess"\tLondon\nBob\t\n'],
  ])('reads %s with its delimiter', async (filename, text) => {
    expect(await outline(filename, text)).toEqual([
      ['table-row', 'Name: Ada, Countess; City: London'],
      ['table-row', 'Name: Bob'],
    ]);
  });
});

describe('subtitles', () => {
  const film = [
    '1',
    '00:00:58,500 --> 00:01:01,000',
    'The ferry leaves',
    '<i>at seven.</i>',
    '',
    '2',
    '00:01:02,000 --> 00:01:04,000 X1:40 X2:600 Y1:20 Y2:50',
    '{\\an8}- How many came?',
    '- 42',
    '',
    '3',
    '00:01:59,999 --> 00:02:03,000',
    '1984',
    '',
    '4',
    '01:02:03,000 --> 01:02:04,000',
    '<font color="#ffff00">It is 3 < 4.</font>',
    '',
  ];
  const minutes = [
    ['h1', '00:00:00'],
    ['paragraph', 'The ferry leaves at seven.'],
    ['h1', '00:01:00'],
    ['paragraph', '- How many came? - 42 1984'],
    ['h1', '01:02:00'],
    ['paragraph', 'It is 3 < 4.'],
  ];

  it.each([
    ['lines of Unix', 'a.srt', film.join('\n'), ''],
    ['lines of Windows and a byte order mark', 'A.SRT', `\uFEFF${film.join('\r\n')}`, ''],
    ['no blank lines', 'a.srt', film.filter(Boolean).join('\n'), ''],
    ['its MIME type alone', 'film', film.join('\n'), 'application/x-subrip'],
  ])('are read minute by minute without numbers and times: %s', async (_name, filename, text, mimeType) => {
    expect(await outline(filename, text, mimeType)).toEqual(minutes);
  });

  it('are put in the order of the film', async () => {
    const text =
      '1\n00:01:00,000 --> 00:01:01,000\nlater\n\n2\n00:00:01.5 --> 00:00:02.5\nfirst\n\n' +
      '3\n0:01:30,000 --> 0:01:31,000\nlast';
    expect(await outline('a.srt', text)).toEqual([
      ['h1', '00:00:00'],
      ['paragraph', 'first'],
      ['h1', '00:01:00'],
      ['paragraph', 'later last'],
    ]);
  });

  it('have no heading for a minute without words', async () => {
    const text =
      '1\n00:00:01,000 --> 00:00:02,000\n♪\n\n2\n00:01:01,000 --> 00:01:02,000\n\n' +
      '3\n00:02:01,000 --> 00:02:02,000\nGood night.';
    expect(await outline('a.srt', text)).toEqual([
      ['h1', '00:02:00'],
      ['paragraph', 'Good night.'],
    ]);
    expect(await refusal('a.srt', '1\n00:00:01,000 --> 00:00:02,000\n♪\n')).toContain('no text');
  });

  it('are refused without times', async () => {
    expect(await refusal('a.srt', '1\nGood night.\n')).toContain('not a valid srt');
  });
});

describe('what cannot be read', () => {
  it.each([
    ['empty', 'a.txt', '', 'empty'],
    ['blank', 'a.txt', ' \n\t ', 'no text'],
    ['binary', 'a.txt', new Uint8Array([1, 0, 2, 255, 0, 3]), 'binary'],
    ['a damaged image', 'a.png', Buffer.from('\x89PNG\r\n', 'latin1'), 'damaged picture'],
    ['a GIF image', 'a.gif', Buffer.from('GIF89a', 'latin1'), 'GIF image'],
    ['an old Word file', 'a.doc', Buffer.from('\xd0\xcf\x11\xe0\xa1', 'latin1'), 'old Office'],
    ['a text that calls itself a PDF', 'a.pdf', 'hello', 'its content does not'],
    ['a text that calls itself a docx', 'a.docx', 'hello', 'its content does not'],
    ['a broken PDF', 'b.pdf', '%PDF-1.7 and nothing else', 'not a valid PDF'],
    ['a broken zip', 'b.docx', Buffer.from('PK\x03\x04 nothing', 'latin1'), 'damaged'],
    ['an unknown type', 'a.xyz', Buffer.from('caf\xe9 or not', 'latin1'), '.xyz is unknown'],
    ['a text that calls itself a workbook', 'a.xlsx', 'hello', 'its content does not'],
  ])('refuses a file that is %s', async (_name, filename, content, reason) => {
    expect(await refusal(filename, content)).toContain(reason);
  });

  it('reads UTF-8 text of an unknown type', async () => {
    expect(await outline('a.xyz', 'Käse')).toEqual([['paragraph', 'Käse']]);
  });
});

describe('dates', () => {
  it('come from front matter, from the head of a page and from a mail', async () => {
    const dateOf = async (name: string, text: string) => (await read(name, text)).date;
    expect(await dateOf('a.md', '---\ntitle: A\ndate: "2025-02-10"\n---\nText.')).toBe('2025-02-10');
    expect(await dateOf('a.md', 'date: 2025-02-10\n\nText.')).toBeUndefined();
    const page = '<meta property="article:published_time" content="2024-06-30T08:00:00Z"><p>Text.';
    expect(await dateOf('a.html', `<!doctype html>${page}`)).toBe('2024-06-30');
    const mail = 'Subject: Hours\r\nDate: Mon, 3 Mar 2025 10:00:00 +0000\r\n\r\nHello.';
    expect(await dateOf('a.eml', mail)).toBe('2025-03-03');
  });
});

describe('titles and headings', () => {
  it('are short, since each passage has them; the text of a long one is kept once', async () => {
    const subject = 'word '.repeat(20_000).trim();
    const mail = await read('a.eml', `Subject: ${subject}\r\nContent-Type: text/plain\r\n\r\nHello.`);
    expect(mail.title).toHaveLength(300);
    expect(mail.title).toMatch(/^word .*…$/);
    expect(mail.blocks[0]).toEqual({ kind: 'paragraph', text: subject });
    const page = await read('a.md', `# Short\n\n## ${subject}\n\nText.`);
    expect(page.title).toBe('Short');
    expect(page.blocks.map(({ kind }) => kind)).toEqual(['heading', 'paragraph', 'paragraph']);
  });
});
