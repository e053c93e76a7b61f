import type { Citation } from '#platform/contracts';
import { describe, expect, it } from 'vitest';
import { CitationCheck, type AnswerToCheck } from './citation-check.js';
import { citablePassage } from './citable-passage.js';

const texts = [
  [
    'handbook.md',
    'Employee Handbook',
    '# Hours\n\nThe office opens at 8 am.\nIt closes at 7 pm. The array a[3] holds hours. See the annex (document 7).',
  ],
  ['prices.csv', 'Price list', 'A day pass costs 12 EUR. A month costs 90 EUR.'],
  ['travel.md', 'Travel', 'Trains are booked by Ruth Meyer.'],
] as const;
const passages = texts.map(([filename, title, text], index) =>
  citablePassage(index + 1, [{ id: `d${index + 1}`, text, metadata: { filename, title } }]),
);

interface Checked {
  text: string;
  citations: Citation[];
  unknown: number[];
  coverage: string;
}

/** The shown text and the citations of an answer that arrives in pieces of a length. */
function check(answer: string, length: number, options: Partial<AnswerToCheck> = {}): Checked {
  const checking = new CitationCheck({ passages, ...options });
  const pieces = answer.match(new RegExp(`[^]{1,${length}}`, 'gu')) ?? [];
  const all = [
    ...pieces.map((text) => checking.push({ text })),
    checking.push({ text: '', finishReason: 'stop' }),
  ];
  const text = all.map((piece) => piece.text).join('');
  const citations = all.flatMap((piece) => piece.citations ?? []);
  for (const { documentId, quote, quoteStart, quoteEnd } of citations) {
    const parts = (options.passages ?? passages).flatMap((passage) => passage.parts);
    const part = parts.find((one) => one.documentId === documentId);
    expect(part?.text.slice(quoteStart, quoteEnd)).toBe(quote);
  }
  const { unknown, cited, statements } = all.at(-1)!.support ?? { unknown: [], cited: 0, statements: 0 };
  return { text, citations, unknown, coverage: `${cited}/${statements}` };
}

/** The same in pieces of each length: the places where a stream is cut change nothing. */
function checked(answer: string, options: Partial<AnswerToCheck> = {}): Checked {
  const whole = check(answer, answer.length + 1, options);
  for (const length of [1, 2, 3, 5, 7]) {
    const { text, citations, ...rest } = check(answer, length, options);
    expect({ text, ...rest }).toEqual({ text: whole.text, unknown: whole.unknown, coverage: whole.coverage });
    expect(sorted(citations)).toEqual(sorted(whole.citations));
  }
  return whole;
}

const sorted = (citations: Citation[]) =>
  citations.toSorted((one, other) => one.startIndex - other.startIndex || one.passage - other.passage);

/** The cited text and the document of each citation. */
const citedOf = ({ text, citations }: Checked) =>
  sorted(citations).map(({ startIndex, endIndex, documentId }) => [
    text.slice(startIndex, endIndex),
    documentId,
  ]);

const opens = 'The office opens at 8 am';
const costs = 'A day pass costs 12 EUR';

describe('each form of a citation becomes [n]', () => {
  it.each([
    '[1]',
    '[[1]]',
    '[[1]](https://a.example/handbook)',
    '[1](https://a.example/handbook)',
    '**[1]**',
    '*[1]*',
    String.raw`\[1\]`,
    '([1])',
    '【1】',
    '【1†source】',
    '【4:1†file】',
    '［1］',
    '(source 1)',
    '(Source: 1)',
    '(Source: [1])',
    '(see source 1)',
    '[Source 1]',
    '[Source: 1]',
    '[Result 1]',
    '[Search result 1]',
    '(search result 1)',
    '[doc 1]',
    '[Document 1]',
    '[Passage 1, page 3]',
    '[#1]',
    '[^1]',
    '[ID:1]',
    '[citation:1]',
    '[1, p. 3]',
    '¹',
    '<sup>1</sup>',
    '<sup>[1]</sup>',
    '<source id="1">',
    '<source id="1"/>',
    '<ref>1</ref>',
    '(1)',
    '##0$$',
    '[handbook.md]',
    '[Source: handbook.md]',
    '(handbook.md)',
    '(Source: Employee Handbook)',
    '[Employee Handbook, p. 3]',
    '【handbook.md】',
    '[handbook.md](https://a.example/handbook)',
  ])('%s', (form) => {
    for (const [given, shown] of [
      [`${opens} ${form}.`, `${opens} [1].`],
      [`${opens}. ${form}`, `${opens}. [1]`],
      [`${opens} ${form}. That is late.`, `${opens} [1]. That is late.`],
      [`- **${opens}** ${form}\n- That is late.`, `- **${opens}** [1]\n- That is late.`],
    ] as const) {
      const result = checked(given);
      expect(result.text).toBe(shown);
      expect(citedOf(result)).toEqual([[expect.stringMatching(/^The office opens at 8 am\.?$/), 'd1']]);
      expect(result.citations[0]).toMatchObject({ passage: 1, quote: 'The office opens at 8 am.' });
    }
  });

  it.each([
    ['[1][2]', '[1][2]'],
    ['[1] [2]', '[1] [2]'],
    ['[1], [2]', '[1], [2]'],
    ['[1] and [2]', '[1] and [2]'],
    ['[1, 2]', '[1][2]'],
    ['[1; 2]', '[1][2]'],
    ['[1 and 2]', '[1][2]'],
    ['[1 & 2]', '[1][2]'],
    ['[1-2]', '[1][2]'],
    ['[1–2]', '[1][2]'],
    ['([1], [2])', '[1][2]'],
    ['[[1]][[2]]', '[1][2]'],
    ['【1】【2】', '[1][2]'],
    ['【1†a】【2†b】', '[1][2]'],
    ['(sources 1 and 2)', '[1][2]'],
    ['[Source 1, Source 2]', '[1][2]'],
    ['[^1][^2]', '[1][2]'],
    ['¹ ²', '[1] [2]'],
    ['¹,²', '[1][2]'],
    ['¹²', '[1][2]'],
    ['<sup>1, 2</sup>', '[1][2]'],
    ['<sup>1</sup><sup>2</sup>', '[1][2]'],
    ['(1)(2)', '[1][2]'],
    ['##0$$##1$$', '[1][2]'],
    ['[handbook.md][prices.csv]', '[1][2]'],
  ])('several passages: %s', (form, shown) => {
    const result = checked(`They differ in price and in time ${form}.`);
    expect(result.text).toBe(`They differ in price and in time ${shown}.`);
    expect(citedOf(result)).toEqual([
      ['They differ in price and in time', 'd1'],
      ['They differ in price and in time', 'd2'],
    ]);
  });

  it.each([
    ['According to search result 2, X.', 'According to [1], X.'],
    ['As source 2 says, X.', 'As [1] says, X.'],
    ['According to the price list (source 2), X.', 'According to the price list [1], X.'],
    ['As stated in [prices.csv], X.', 'As stated in [1], X.'],
    ['Result 2: X.', '[1]: X.'],
  ])('words in a sentence: %s', (answer, shown) => {
    const result = checked(answer.replace('X', costs));
    expect(result.text).toBe(shown.replace('X', costs));
    expect(citedOf(result)).toEqual([[`${answer.startsWith('As source') ? 'says, ' : ''}${costs}.`, 'd2']]);
  });

  it('emphasis and quotation marks', () => {
    const result = checked(`- **Time:** it opens at 8 am. [1]\n- It says: "A month costs 90 EUR." [2]`);
    expect(citedOf(result)).toEqual([
      ['**Time:** it opens at 8 am.', 'd1'],
      ['It says: "A month costs 90 EUR."', 'd2'],
    ]);
  });

  it('a marker before its sentence', () => {
    for (const answer of [
      `[1] ${opens}. [2] ${costs}.`,
      `[1] ${opens}.\n[2] ${costs}.`,
      `- [1] ${opens}.\n- [2] ${costs}.`,
    ]) {
      const result = checked(answer);
      expect(result.text).toBe(answer);
      expect(citedOf(result)).toEqual([
        [`${opens}.`, 'd1'],
        [`${costs}.`, 'd2'],
      ]);
    }
  });

  it('the numbers in the order of their first use, with the repeated citations at the end', () => {
    const result = checked('A pass costs 12 EUR. [2] It opens at 8. [1] Both [2, 1].');
    expect(result.text).toBe('A pass costs 12 EUR. [1] It opens at 8. [2] Both [1][2].');
    expect(result.citations.map(({ passage, documentId }) => [passage, documentId])).toEqual([
      [1, 'd2'],
      [2, 'd1'],
      [1, 'd2'],
      [2, 'd1'],
    ]);
  });
});

describe('what is not a citation stays as it is', () => {
  it.each([
    'Use `a[1]` here.',
    'Run this:\n\n```\nb[2] = c[1]\n```\nDone.',
    'The list [1, 2, 3] has three items.',
    'It returns [1, 2, 3].',
    'The result is [1, 2].',
    'Use x = [1, 2] as the input.',
    'The numbers are [3, 1, 2].',
    '[1, 2, 3]',
    'See https://a.example/a[1] for more.',
    'See <https://a.example/x?a=[1]> for more.',
    'Article 5 (1) says so.',
    'Bring (1) a pass, (2) a badge.',
    'The hall has 30 m² and 10 km².',
    'E = mc². Energy is mass.',
    'In [2024] it was built.',
    'The perfume (No. 5) is sold out.',
    'The winner (number 3) got a prize.',
    'It is in the annex (document 7).',
    'It took [12:30] minutes.',
    '<think>Result [1] says 8 am.</think>Good morning.',
    'The array a[3] holds hours.',
    'The [travel](https://a.example) page.',
    '- [ ] open\n- [x] done',
  ])('%s', (answer) => {
    const { text, citations } = checked(answer);
    expect(text).toBe(answer);
    expect(citations.filter(({ inferred }) => !inferred)).toEqual([]);
  });
});

it('a passage with numbers of its own is cited', () => {
  const own = [citablePassage(1, [{ id: 'd1', text: 'Tea is hot [1]. Ice is cold [4].', metadata: {} }])];
  expect(check('Tea is hot [1]. Ice is cold [4].', 3, { passages: own })).toMatchObject({
    text: 'Tea is hot [1]. Ice is cold [4].',
    citations: [{ passage: 1, documentId: 'd1' }],
    unknown: [],
  });
});

describe('numbers without a passage', () => {
  it.each([
    [`${opens} [9].`, `${opens}.`, [9]],
    [`${opens} [1][7].`, `${opens} [1].`, [7]],
    [`${opens} [1, 7].`, `${opens} [1].`, [7]],
    [`${opens} 【12†source】.`, `${opens}.`, [12]],
    [`${opens} (source 4).`, `${opens}.`, [4]],
  ])('%s', (answer, shown, unknown) => {
    const result = checked(answer);
    expect([result.text, result.unknown]).toEqual([shown, unknown]);
  });
});

describe('lists of sources', () => {
  it.each([
    'Sources: [1], [2]',
    '**Sources:** [1] [2]',
    'Sources:\n- [1] handbook.md\n- [2] prices.csv',
    '### References\n\n1. [1]\n2. [2]',
    'Quellen: [1, 2]',
    '[^1]: Employee Handbook\n[^2]: Price list',
    'Sources:\n1. handbook.md\n2. Price list, page 3',
    '**Quellen**\n- Employee Handbook (handbook.md)\n- prices.csv',
    'Sources\n1. handbook.md\n2. prices.csv',
    '[1] handbook.md\n[2] prices.csv',
    '---\nSources:\n[1] https://a.example/1\n[2] https://a.example/2',
  ])('are resolved to the statements: %s', (list) => {
    const result = checked(`${costs}. ${opens}.\n\n${list}`);
    expect(citedOf(result)).toEqual([
      [`${costs}.`, 'd2'],
      [`${opens}.`, 'd1'],
    ]);
    const cited = checked(`${costs} [2]. ${opens} [1].\n\n${list}`);
    expect(cited.text).toMatch(/^A day pass costs 12 EUR \[1\]\. The office opens at 8 am \[2\]\./);
    expect(citedOf(cited)).toEqual([
      [costs, 'd2'],
      [opens, 'd1'],
    ]);
  });

  it('within a line are not a part of the statement', () => {
    expect(citedOf(checked(`${opens}. Source: [1]`))).toEqual([[`${opens}.`, 'd1']]);
  });

  it('are not cited text, even if no statement has a word of the passage', () => {
    expect(citedOf(checked('He goes by bus.\n\nSources: [1]'))).toEqual([['He goes by bus.', 'd1']]);
  });
});

describe('an answer without markers', () => {
  it('gets its passages by the words of its statements', () => {
    const result = checked(`${costs}, and ${opens.toLowerCase()}.\n\nTrains are booked by Ruth Meyer.`);
    expect(
      result.citations.map(({ documentId, passage, inferred }) => [documentId, passage, inferred]),
    ).toEqual([['d3', 1, true]]);
    expect(citedOf(checked(`${opens}. ${costs}.`))).toEqual([
      [`${opens}.`, 'd1'],
      [`${costs}.`, 'd2'],
    ]);
  });

  it.each([
    'Hello! How can I help you?',
    'I could not find the answer in the provided documents.',
    'The documents do not say when the office opens.',
    'Das konnte ich in den Dokumenten nicht finden.',
    'The office opens at 9 am.',
    'You are welcome. Ask me about the office, the pass or the trains.',
  ])('has none: %s', (answer) => expect(checked(answer).citations).toEqual([]));
});

describe('a refusal', () => {
  it('has no number', () => {
    const refusals = ['I found nothing.'];
    const result = checked('I found nothing. [2]', { refusals });
    expect(result).toEqual({ text: 'I found nothing.', citations: [], unknown: [], coverage: '0/0' });
  });
});

describe('coverage', () => {
  it('is the share of the statements with a citation', () => {
    expect(
      checked(`# Hours\n\nHere is what I found:\n\n${opens} [1]. It closes at 7 pm. Anything else?`).coverage,
    ).toBe('1/2');
    expect(checked(`${opens} [1].\n\n${costs}. [2]\n\nSources: [1], [2]`).coverage).toBe('2/2');
  });
});

describe('an answer in JSON', () => {
  it('has no markers, and its citations are beside it', () => {
    const result = checked('{"opens": "8 am [1]", "price": "12 EUR【2†source】", "ids": [1, 2]}', {
      form: 'json',
    });
    expect(result.text).toBe('{"opens": "8 am", "price": "12 EUR", "ids": [1, 2]}');
    expect(citedOf(result)).toEqual([
      ['8 am', 'd1'],
      ['12 EUR', 'd2'],
    ]);
  });

  it('gets its passages by the words of its values', () => {
    const result = checked(
      '{"day_pass_price": 12, "booked_by": "Ruth Meyer", "ok": true, "note": "unknown"}',
      { form: 'json' },
    );
    expect(citedOf(result)).toEqual([
      ['12', 'd2'],
      ['Ruth Meyer', 'd3'],
    ]);
    expect(result.citations.every(({ inferred }) => inferred)).toBe(true);
  });

  it('keeps a value that is a marker, and the text of another constraint', () => {
    const json = '{"source": "[1]"}';
    expect(checked(json, { form: 'json' }).text).toBe(json);
    expect(checked('[9]', { form: 'raw' }).text).toBe('[9]');
  });
});

describe('the text of a model that loops', () => {
  it.each(['[', '(', '【', '<source ', '(source ', '[1, ', '**'])('stays as it is: %s', (piece) => {
    const answer = piece.repeat(2_000);
    expect(check(answer, 7).text).toBe(answer);
  });

  it('cites one statement for all markers', () => {
    const { text, citations } = check(`${opens} ${'[1]'.repeat(1_000)}`, 7);
    expect(text).toHaveLength(opens.length + 3_001);
    expect(new Set(citations.map(({ startIndex, endIndex }) => text.slice(startIndex, endIndex)))).toEqual(
      new Set([opens]),
    );
  });
});

describe('a stream', () => {
  it('flows: only the possible beginning of a marker is held back', () => {
    const checking = new CitationCheck({ passages });
    const shown = [
      'Opens',
      ' at',
      ' 8',
      ' am',
      ' [',
      '1',
      ']',
      '.',
      ' See',
      ' (the',
      ' list)',
      ' a',
      ' [x',
    ].map((text) => checking.push({ text }).text);
    expect(shown).toEqual([
      'Opens',
      ' at',
      ' 8',
      ' am',
      '',
      '',
      '',
      ' [1].',
      ' See',
      ' (the',
      ' list)',
      ' a',
      ' [x',
    ]);
  });

  it('cites a passage with its first number, so that a stopped answer keeps it', () => {
    const checking = new CitationCheck({ passages });
    const numbers = (text: string, finishReason?: 'stop') =>
      checking.push({ text, finishReason }).citations?.map(({ passage }) => passage);
    expect(numbers('A pass costs 12 EUR. [2] It')).toEqual([1]);
    expect(numbers(' costs 12 EUR. [2] It')).toBeUndefined();
    expect(numbers(' opens at 8. [1] Yes')).toEqual([2]);
    expect(numbers('.', 'stop')).toEqual([1]);
  });
});
