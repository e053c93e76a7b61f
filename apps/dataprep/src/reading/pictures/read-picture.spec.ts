import { beforeAll, describe, expect, it, vi } from 'vitest';
import { makeRawPdf, show } from '../../../../../test/fixtures/dataprep/make-pdf.js';
import {
  makePng,
  makeScannedPdf,
  makeTiff,
  turnPicture,
  type TestPicture,
} from '../../../../../test/fixtures/dataprep/make-picture.js';
import { readDocument } from '../read-document.js';
import { renderPages } from './render-pages.js';

const read = (filename: string, bytes: Uint8Array) => readDocument({ filename, mimeType: '', bytes });
const texts = async (filename: string, bytes: Uint8Array) =>
  (await read(filename, bytes)).blocks.map(({ text }) => text);

const text = 'The harbour office issues a permit for every boat that leaves.';
const lines = ['Boat|Berth|Fee', 'Sigrun|B4|64 crowns', 'Frida|B5|13 crowns'].map((line, row) =>
  line
    .split('|')
    .map((cell, column) => show(cell, 76 + column * 120, 626 - row * 20))
    .join(''),
);
const frame = [0, 1, 2, 3].map((row) => `72 ${640 - row * 20} m 432 ${640 - row * 20} l S `).join('');
const bars = [0, 1, 2, 3]
  .map((column) => `${72 + column * 120} 640 m ${72 + column * 120} 580 l S `)
  .join('');
const expected = [text, 'Boat: Sigrun; Berth: B4; Fee: 64 crowns', 'Boat: Frida; Berth: B5; Fee: 13 crowns'];

describe('a picture', () => {
  let page: TestPicture;
  beforeAll(async () => {
    const pdf = makeRawPdf([
      { content: show(text, 72, 670) + lines.join('') + frame + bars, entries: '/CropBox [50 560 470 700]' },
    ]);
    for await (const { picture } of renderPages(pdf, [1])) page = picture;
  });

  it('of a page gives its text and its tables, as PNG, as TIFF and in a PDF', async () => {
    expect(await texts('a.png', makePng(page))).toEqual(expected);
    expect(await texts('a', makeTiff(page))).toEqual(expected);
    const { blocks, facts } = await read('a.pdf', makeScannedPdf(page));
    expect(blocks.map((block) => [block.page, block.text])).toEqual(expected.map((each) => [1, each]));
    expect(facts).toMatchObject({ pages: 1, ocrPages: 1 });
  });

  it.each([90, 180, 270, 3])('that is turned by %i degrees is read upright', async (degrees) => {
    expect(await texts('a.png', makePng(turnPicture(page, degrees)))).toEqual(expected);
  });

  it('without text, and a damaged one, are refused', async () => {
    const white = { ...page, pixels: new Uint8Array(page.pixels.length).fill(255) };
    await expect(read('a.png', makePng(white))).rejects.toThrow('it is a picture without text');
    await expect(read('a.png', makePng(page).subarray(0, 500))).rejects.toThrow('damaged picture');
  });
});

describe('without the models', () => {
  it('pictures and scans are refused with the command that installs them', async () => {
    vi.resetModules();
    vi.doMock('#engine/vision', () => ({
      findOcrModels: () => undefined,
      howToGetOcrModels: 'npm install models',
    }));
    const { readDocument: readWithout } = await import('../read-document.js');
    const white = { width: 8, height: 8, pixels: new Uint8Array(192).fill(255) };
    for (const [filename, bytes] of [
      ['a.png', makePng(white)],
      ['a.pdf', makeScannedPdf(white)],
    ] as const)
      await expect(readWithout({ filename, mimeType: '', bytes })).rejects.toThrow('npm install models');
    vi.doUnmock('#engine/vision');
  });
});
