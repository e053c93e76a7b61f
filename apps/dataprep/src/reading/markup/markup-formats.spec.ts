import { describe, expect, it } from 'vitest';
import { readDocument } from '../read-document.js';

const read = (filename: string, lines: readonly string[], keepRevisions = false) =>
  readDocument({ filename, mimeType: '', bytes: Buffer.from(lines.join('\n')), keepRevisions });
const outline = async (filename: string, lines: readonly string[]) =>
  (await read(filename, lines)).blocks.map(
    ({ kind, level, text }) => `${level ? `h${level}` : kind} ${text}`,
  );

type Case = [what: string, lines: string[], expected: string[]];

describe('Org', () => {
  it.each<Case>([
    [
      'headings with states, times, tags and properties',
      [
        '* TODO [#A] Mast work :sail:',
        'DEADLINE: <2024-06-01 Sat>',
        ':PROPERTIES:',
        ':ID: 7',
        ':Price: 40',
        ':END:',
        'x',
      ],
      [
        'h1 TODO Mast work',
        'paragraph Tags: sail',
        'paragraph Deadline: 2024-06-01 Sat',
        'paragraph Price: 40',
        'paragraph x',
      ],
    ],
    [
      'tables, whose rows above the line are headers',
      ['| Boat | Berth |', '|---+---|', '| Sigrun | B4 |', '#+TBLFM: $2=3'],
      ['table-row Boat: Sigrun; Berth: B4'],
    ],
    [
      'marks of letters, links and notes',
      ['*A* /b/ =c_d= +e+ f[fn:1] [[https://a.org][page]].', '', '[fn:1] Note.'],
      ['paragraph A b c_d f page (https://a.org).', 'note Note.'],
    ],
    [
      'lists and blocks',
      [
        '- Rope :: 20 m',
        '- [X] done',
        '  goes on',
        '#+begin_src sh',
        'ls',
        '#+end_src',
        ': fixed',
        '# remark',
        '#+begin_quote',
        'Said.',
        '#+end_quote',
      ],
      ['list-item Rope: 20 m', 'list-item [X] done goes on', 'code ls', 'code fixed', 'paragraph Said.'],
    ],
    ['no commented parts', ['* COMMENT a', 'b', '** c', 'd', '* e', 'f'], ['h1 e', 'paragraph f']],
  ])('has %s', async (_what, lines, expected) => {
    expect(await outline('a.org', lines)).toEqual(expected);
  });
});

describe('reStructuredText', () => {
  it.each<Case>([
    [
      'headings by the order of their marks',
      [
        '====',
        'Book',
        '====',
        '',
        'Part',
        '====',
        'x',
        '',
        'Section',
        '-------',
        'y',
        '',
        'Part 2',
        '======',
        'z',
      ],
      ['h1 Book', 'h2 Part', 'paragraph x', 'h3 Section', 'paragraph y', 'h2 Part 2', 'paragraph z'],
    ],
    [
      'grids with cells over several columns and rows',
      [
        '+---+---+---+',
        '| A | B | C |',
        '+===+===+===+',
        '| 1 | 2 | 3 |',
        '|   +---+---+',
        '|   | wide  |',
        '+---+-------+',
      ],
      ['table-row A: 1; B: 2; C: 3', 'table-row A: 1; B: wide; C: wide'],
    ],
    [
      'simple tables with joined headers',
      ['==  ==  ===', 'In      Out', '------  ---', 'A   B   C', '==  ==  ===', '1   2   3', '==  ==  ==='],
      ['table-row In A: 1; In B: 2; Out C: 3'],
    ],
    [
      'tables of lists and of CSV',
      [
        '.. list-table:: Prices',
        '   :header-rows: 1',
        '',
        '   * - Boat',
        '     - Price',
        '   * - Frida',
        '     - 25',
        '',
        '.. csv-table::',
        '   :header: a, b',
        '',
        '   1, 2',
      ],
      ['caption Prices', 'table-row Boat: Frida; Price: 25', 'table-row a: 1; b: 2'],
    ],
    [
      'directives, literal blocks and images',
      [
        '.. note:: Keep it.',
        '',
        '.. code-block:: sh',
        '',
        '   ls',
        '',
        'So::',
        '',
        '   make',
        '',
        '.. image:: a.png',
        '   :alt: Map',
        '',
        '.. versionadded:: 1.2 Flag.',
      ],
      [
        'paragraph Note: Keep it.',
        'code ls',
        'paragraph So:',
        'code make',
        'caption Map',
        'paragraph Added in version 1.2: Flag.',
      ],
    ],
    [
      'roles, links, substitutions and notes',
      [
        '.. |v| replace:: 2.4',
        '.. _page: https://a.org',
        '',
        'See |v|, page_, `b <https://b.org>`_, :ref:`c <d>`, ``e*f``, **g** [#1]_.',
        '',
        '.. [#1] Note.',
      ],
      ['paragraph See 2.4, page (https://a.org), b (https://b.org), c, e*f, g.', 'note Note.'],
    ],
    [
      'fields, terms, options and lists',
      [
        ':Author: Ada',
        ':Status: new',
        '',
        'rope',
        '   Is long.',
        '',
        '-v  Say more.',
        '',
        '* a',
        '* b',
        '',
        '#. c',
      ],
      [
        'paragraph Author: Ada',
        'paragraph Status: new',
        'list-item rope: Is long.',
        'list-item -v Say more.',
        'list-item a',
        'list-item b',
        'list-item c',
      ],
    ],
  ])('has %s', async (_what, lines, expected) => {
    expect(await outline('a.rst', lines)).toEqual(expected);
  });
});

describe('AsciiDoc', () => {
  it.each<Case>([
    [
      'a title with its author, and attributes',
      ['= Boats', 'Ada <a@b.org>', ':v: 2.4', '', '== Mast', 'In {v} and {other}.'],
      ['h1 Boats', 'paragraph Ada <a@b.org>', 'h2 Mast', 'paragraph In 2.4 and {other}.'],
    ],
    [
      'tables with spans',
      [
        '.Prices',
        '[cols="1,1,1",options="header"]',
        '|===',
        '|Boat |H1 |H2',
        '.2+|Frida |1 |2',
        '2+|none',
        '|===',
      ],
      ['caption Prices', 'table-row Boat: Frida; H1: 1; H2: 2', 'table-row Boat: Frida; H1: none; H2: none'],
    ],
    [
      'cells on lines of their own, below headers that are set apart',
      ['|===', '|A |B', '', '|1', '|2', '|==='],
      ['table-row A: 1; B: 2'],
    ],
    [
      'blocks, lists and terms',
      [
        'NOTE: Keep it.',
        '',
        '[WARNING]',
        '====',
        'Hot.',
        '====',
        '',
        '[source,sh]',
        '----',
        'ls',
        '----',
        '* a',
        '** b',
        '. c',
        '',
        'rope:: 20 m',
        '////',
        'x',
        '////',
      ],
      [
        'paragraph NOTE: Keep it.',
        'paragraph WARNING: Hot.',
        'code ls',
        'list-item a',
        'list-item b',
        'list-item c',
        'list-item rope: 20 m',
      ],
    ],
    [
      'marks, links and notes',
      [
        '*A* _b_ `c_d` [.line-through]#90# 70footnote:[Note.] https://a.org[page] <<x,below>> image:m.png[Map].',
      ],
      ['paragraph A b c_d 70 page (https://a.org) below Map.', 'note Note.'],
    ],
    [
      'conditions by the attributes that it sets',
      [':a:', '', 'ifdef::a[]', 'one', 'endif::[]', 'ifndef::a[]', 'two', 'endif::[]', 'ifdef::b[three]'],
      ['paragraph one'],
    ],
  ])('has %s', async (_what, lines, expected) => {
    expect(await outline('a.adoc', lines)).toEqual(expected);
  });
});

describe('LaTeX', () => {
  const body = (...lines: string[]) => [
    '\\documentclass{article}',
    '\\begin{document}',
    ...lines,
    '\\end{document}',
  ];

  it.each<Case>([
    [
      'titles, sections and notes',
      [
        '\\title{Boats}\\author{Ada \\and Bob}',
        ...body(
          '\\maketitle',
          '\\section{Mast}\\label{m}',
          'It is 14\\,m\\footnote{In \\emph{May}.} high. % x',
        ),
      ],
      ['h1 Boats', 'paragraph Ada, Bob', 'h2 Mast', 'paragraph It is 14 m high.', 'note In May.'],
    ],
    [
      'tables with cells over columns and rows',
      body(
        '\\begin{tabular}{lrr}\\toprule',
        'Boat & \\multicolumn{2}{c}{Price}\\\\',
        ' & H1 & H2\\\\\\midrule',
        '\\multirow{2}{*}{Frida} & 1 & 2\\\\',
        ' & 3 & 4\\\\\\bottomrule',
        '\\end{tabular}',
      ),
      ['table-row Boat: Frida; Price H1: 1; Price H2: 2', 'table-row Boat: Frida; Price H1: 3; Price H2: 4'],
    ],
    [
      'lists, code, formulas and captions',
      body(
        '\\begin{itemize}\\item a\\item[Rope] b\\end{itemize}',
        '\\begin{verbatim}',
        'x % y',
        '\\end{verbatim}',
        '\\begin{equation}E = mc^2\\end{equation}',
        '\\begin{figure}\\includegraphics[width=1cm]{a}\\caption{Map}\\end{figure}',
      ),
      ['list-item a', 'list-item Rope: b', 'code x % y', 'paragraph E = mc^2', 'caption Map'],
    ],
    [
      'letters, signs, addresses and struck-out text',
      body(
        "Sm\\\"org\\aa s 20\\% \\& \\sout{80} 70, $x^2$, \\href{https://a.org/b%20c}{page}, \\verb|a_b|, ``q''.",
      ),
      ['paragraph Smörgås 20% & 70, x^2, page (https://a.org/b%20c), a_b, “q”.'],
    ],
    [
      'its own commands',
      [
        '\\newcommand{\\boat}[2][red]{#2 (#1)}\\def\\x#1{<#1>}',
        ...body('\\boat{Frida}, \\boat[blue]{Sigrun}, \\x{y}'),
      ],
      ['paragraph Frida (red), Sigrun (blue), <y>'],
    ],
  ])('has %s', async (_what, lines, expected) => {
    expect(await outline('a.tex', lines)).toEqual(expected);
  });

  it('refuses commands that call each other without an end', async () => {
    const bombs = [
      '\\def\\a{\\b\\b}\\def\\b{\\a\\a}\\a',
      `\\def\\a#1{#1#1}${'\\a{'.repeat(60)}x${'}'.repeat(60)}`,
    ];
    for (const bomb of bombs)
      await expect(read('a.tex', [bomb])).rejects.toMatchObject({ code: 'unsupported_file' });
  });
});

it.each([
  ['a.org', '#+INCLUDE: "b.org"'],
  ['a.rst', '.. include:: b.org'],
  ['a.adoc', 'include::b.org[]'],
  ['a.tex', '\\input{b.org}'],
])('says that files that %s includes were not read', async (filename, line) => {
  expect((await read(filename, ['Text.', '', line])).warnings).toMatchObject([
    { code: 'include_skipped', message: expect.stringContaining('b.org') },
  ]);
});

it.each(['org', 'rst', 'adoc', 'tex'])('reads hostile %s in linear time', async (extension) => {
  const pieces = [
    '[[',
    '*a ',
    '`',
    '|a',
    '+-',
    '\\x{',
    '$',
    '<<',
    '* ',
    '=\n',
    '.. x::\n  ',
    '2+|',
    '[fn:',
    '~~',
    '((',
    ':a:`',
  ];
  const begin = process.cpuUsage().user;
  for (const piece of pieces) await read(`a.${extension}`, ['a', piece.repeat(4_000)]).catch(() => undefined);
  expect((process.cpuUsage().user - begin) / 1_000).toBeLessThan(4_000);
});
