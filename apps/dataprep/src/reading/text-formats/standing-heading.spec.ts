import { expect, it } from 'vitest';
import { readPlainText } from '../read-plain-text.js';

const prose = [
  'Every keeper shall register each apiary with the office within two',
  'weeks after the first colony was placed, and shall pay the fee then.',
];
const headings = (lines: string[]) =>
  readPlainText(lines.join('\n'))
    .blocks.filter(({ kind }) => kind === 'heading')
    .map(({ text, level }) => `${level} ${text}`);

it('reads a line alone above wrapped prose as a heading', () => {
  const text = [
    'Section 1. Definitions',
    '',
    ...prose,
    '',
    '2. Distances',
    '',
    ...prose,
    '',
    'Life',
    '',
    ...prose,
  ];
  expect(headings([...prose, '', ...text])).toEqual(['3 Section 1. Definitions', '3 2. Distances', '3 Life']);
});

it.each([
  ['a sentence', ['It is over.', '', ...prose]],
  ['an item', ['- Fees', '', ...prose]],
  ['a line above a list', ['Fees', '', '- ten crowns', '- two crowns']],
  ['the last line', ['Ada Quill']],
  ['a row', ['Fees | Crowns', '', ...prose]],
])('does not read %s as a heading', (_case, lines) => {
  expect(headings([...prose, '', ...lines])).toEqual([]);
});

it('reads the lines of a text that was not wrapped as its paragraphs', () => {
  expect(headings(['First verse', '', 'Second verse', '', 'Third verse'])).toEqual([]);
});
