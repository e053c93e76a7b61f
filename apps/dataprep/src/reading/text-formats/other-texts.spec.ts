import { expect, it } from 'vitest';
import { readDocument } from '../read-document.js';

const read = (filename: string, content: string) =>
  readDocument({ filename, mimeType: '', bytes: Buffer.from(content) });
const texts = async (filename: string, content: string) =>
  (await read(filename, content)).blocks.map(({ text }) => text);

it.each([
  [
    'hours left out, and speakers',
    'WEBVTT\n\n1\n00:01.000 --> 00:04.000 align:start\n<v Ann>The pump is <b>green</b>.\n\n00:05.000 --> 00:07.000\nIt <00:06.000>runs.',
    ['00:00:00', 'Ann: The pump is green. It runs.'],
  ],
  [
    'remarks and styles',
    'WEBVTT - Title\n\nSTYLE\n::cue { color: red }\n\n01:00:05.000 --> 01:00:07.000\nHello.\n\nNOTE to\neditors\n\n01:01:05.000 --> 01:01:07.000\nBye.',
    ['01:00:00', 'Hello.', '01:01:00', 'Bye.'],
  ],
])('reads WebVTT with %s', async (_case, source, expected) => {
  expect(await texts('a.vtt', source)).toEqual(expected);
});

it('reads a notebook without its pictures', async () => {
  const cells = [
    { cell_type: 'markdown', source: ['# Mast\n', 'It is **14 m**.'] },
    {
      cell_type: 'code',
      source: 'print(1)',
      outputs: [{ text: ['1\n'] }, { data: { 'image/png': 'iVBORw0KGgo', 'text/plain': '<Figure>' } }],
    },
  ];
  const source = JSON.stringify({ cells });
  expect(await texts('a.ipynb', source)).toEqual(['Mast', 'It is 14 m.', 'print(1)', '1', '<Figure>']);
  expect((await read('a.ipynb', source)).warnings).toMatchObject([{ code: 'picture_skipped' }]);
});

it('reads a log without colors', async () => {
  expect(await texts('a.log', '\u001b[31mERROR\u001b[0m pump 7 \u001b[1;32mfailed\u001b[m')).toEqual([
    'ERROR pump 7 failed',
  ]);
});
