import { describe, expect, it } from 'vitest';
import { makeRawPdf, show } from '../../../../../test/fixtures/dataprep/make-pdf.js';
import { chunkDocument } from '../../chunking/chunk-document.js';
import { readDocument } from '../read-document.js';

const pageOf = (text: string) => ({ content: show(text, 72, 700) });
const texts = ['The preface names the crew.', 'The second part of it.', 'The first chapter.', 'The annex.'];
const read = (labels?: string) =>
  readDocument({ filename: 'a.pdf', mimeType: '', bytes: makeRawPdf(texts.map(pageOf), { labels }) });
const labelsOf = async (labels?: string) => (await read(labels)).blocks.map(({ pageLabel }) => pageLabel);

describe('page labels of a PDF', () => {
  it.each([
    [
      'Roman numbers, Arabic ones, and a prefix',
      '<< /Nums [0 << /S /r >> 2 << /S /D >> 3 << /S /D /P (A-) /St 3 >>] >>',
      ['i', 'ii', '1', 'A-3'],
    ],
    ['letters', '<< /Nums [0 << /S /A >> ] >>', ['A', 'B', 'C', 'D']],
    ['the usual numbers', '<< /Nums [0 << /S /D >>] >>', [undefined, undefined, undefined, undefined]],
    ['a damaged list', '<< /Nums [0 << /S /Q >>] >>', [undefined, undefined, undefined, undefined]],
    ['none', undefined, [undefined, undefined, undefined, undefined]],
  ])('%s', async (_name, labels, expected) => expect(await labelsOf(labels)).toEqual(expected));

  it('are those of the pages of a chunk', async () => {
    const { blocks } = await read('<< /Nums [0 << /S /r >> 2 << /S /D >>] >>');
    const chunks = chunkDocument({ blocks }, { chunkSize: 100, chunkOverlap: 0 });
    expect(chunks).toMatchObject([{ page: 1, pageLabels: { 1: 'i', 2: 'ii', 3: '1', 4: '2' } }]);
  });
});
