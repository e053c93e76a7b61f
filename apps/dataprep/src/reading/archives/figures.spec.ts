import { beforeAll, describe, expect, it, vi } from 'vitest';
import { makeRawPdf, show } from '../../../../../test/fixtures/dataprep/make-pdf.js';
import { makePng, type TestPicture } from '../../../../../test/fixtures/dataprep/make-picture.js';
import { makeZip } from '../../../../../test/fixtures/dataprep/make-zip.js';
import { readDocument } from '../read-document.js';
import { renderPages } from '../pictures/render-pages.js';

const types = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const relations = (targets: Record<string, string>) =>
  `<Relationships>${Object.entries(targets)
    .map(([id, target]) => `<Relationship Id="${id}" Type="${types}/image" Target="${target}"/>`)
    .join('')}</Relationships>`;
type Files = Record<string, string | Uint8Array>;

const paragraph = (text: string) => `<w:p><w:r><w:t>${text}</w:t></w:r></w:p>`;
const drawing = (id: string) =>
  `<w:p><w:r><w:drawing><wp:docPr descr="A sign"/><a:blip r:embed="${id}"/></w:drawing></w:r></w:p>`;
const docx = (body: string, pictures: Files, targets: Record<string, string>) =>
  makeZip({
    'word/document.xml': `<w:document><w:body>${body}</w:body></w:document>`,
    'word/_rels/document.xml.rels': relations(targets),
    ...pictures,
  });

const slide = (shapes: string) => `<p:sld><p:cSld><p:spTree>${shapes}</p:spTree></p:cSld></p:sld>`;
const shape = (text: string, y: number) =>
  `<p:sp><p:spPr><a:off x="0" y="${y}"/></p:spPr><p:txBody><a:p><a:r><a:t>${text}</a:t></a:r></a:p></p:txBody></p:sp>`;
const pic = (id: string, y: number) =>
  `<p:pic><p:cNvPr descr="sign.png"/><p:blipFill><a:blip r:embed="${id}"/></p:blipFill><p:spPr><a:off x="0" y="${y}"/></p:spPr></p:pic>`;
const pptx = (shapes: string, pictures: Files, targets: Record<string, string>) =>
  makeZip({
    'ppt/presentation.xml': '<p:presentation><p:sldIdLst><p:sldId r:id="s"/></p:sldIdLst></p:presentation>',
    'ppt/_rels/presentation.xml.rels': `<Relationships><Relationship Id="s" Type="${types}/slide" Target="slides/slide1.xml"/></Relationships>`,
    'ppt/slides/slide1.xml': slide(shapes),
    'ppt/slides/_rels/slide1.xml.rels': relations(targets),
    ...pictures,
  });

const odt = (body: string, pictures: Files) =>
  makeZip({
    mimetype: 'application/vnd.oasis.opendocument.text',
    'content.xml': `<office:document-content><office:body><office:text>${body}</office:text></office:body></office:document-content>`,
    ...pictures,
  });
const frame = (path: string) =>
  `<text:p>Above.<draw:frame><draw:image xlink:href="${path}"/><svg:desc>A sign</svg:desc></draw:frame></text:p>`;

const read = (filename: string, bytes: Uint8Array) => readDocument({ filename, mimeType: '', bytes });
const shown = async (filename: string, bytes: Uint8Array) =>
  (await read(filename, bytes)).blocks.map(({ kind, text }) => `${kind}: ${text}`);

describe('pictures within documents', () => {
  const said = 'Boats over nine metres pay sixty crowns.';
  let png: Buffer;
  beforeAll(async () => {
    const pdf = makeRawPdf([{ content: show(said, 72, 670), entries: '/CropBox [50 640 400 700]' }]);
    let picture: TestPicture | undefined;
    for await (const page of renderPages(pdf, [1])) picture = page.picture;
    png = makePng(picture!);
  });

  it('are read at their places in a docx, a picture in several places once', async () => {
    const body = paragraph('Above.') + drawing('i1') + paragraph('Below.') + drawing('i1');
    const document = docx(body, { 'word/media/sign.png': png }, { i1: 'media/sign.png' });
    expect(await shown('a.docx', document)).toEqual([
      'paragraph: Above.',
      'caption: A sign',
      `figure: ${said}`,
      'paragraph: Below.',
      'caption: A sign',
    ]);
    expect((await read('a.docx', document)).facts).toMatchObject({ ocrPictures: 1 });
  });

  it('in a cell of a docx stand below its table', async () => {
    const cells = `<w:tc>${paragraph('Sign')}</w:tc><w:tc>${drawing('i1').replace('A sign', '')}</w:tc>`;
    const body = `<w:tbl><w:tr>${cells}</w:tr></w:tbl>${paragraph('Below.')}`;
    expect(await shown('a.docx', docx(body, { 'word/media/a.png': png }, { i1: 'media/a.png' }))).toEqual([
      'table-row: Sign',
      `figure: ${said}`,
      'paragraph: Below.',
    ]);
  });

  it('are read between the shapes of a slide', async () => {
    const shapes = shape('Below.', 900) + pic('i1', 500) + shape('Above.', 100);
    const { blocks } = await read(
      'a.pptx',
      pptx(shapes, { 'ppt/media/a.png': png }, { i1: '../media/a.png' }),
    );
    expect(blocks).toEqual([
      { kind: 'paragraph', text: 'Above.', page: 1 },
      { kind: 'figure', text: said, page: 1 },
      { kind: 'paragraph', text: 'Below.', page: 1 },
    ]);
  });

  it('are read after their paragraph in an odt', async () => {
    const body = `${frame('Pictures/a.png')}<text:p>Below.</text:p>`;
    expect(await shown('a.odt', odt(body, { 'Pictures/a.png': png }))).toEqual([
      'paragraph: Above.',
      `figure: ${said}`,
      'caption: A sign',
      'paragraph: Below.',
    ]);
  });

  it('that cannot be read are a warning, and icons and pictures without text are not', async () => {
    const white = makePng({ width: 90, height: 90, pixels: new Uint8Array(90 * 90 * 3).fill(255) });
    const icon = makePng({ width: 8, height: 8, pixels: new Uint8Array(8 * 8 * 3) });
    const names = {
      i1: 'media/a.emf',
      i2: 'media/b.png',
      i3: 'media/white.png',
      i4: 'media/icon.png',
      i5: 'media/none.png',
    };
    const files = {
      'word/media/a.emf': 'not a picture',
      'word/media/b.png': png.subarray(0, 300),
      'word/media/white.png': white,
      'word/media/icon.png': icon,
    };
    const body = paragraph('Text.') + Object.keys(names).map(drawing).join('');
    const { warnings, facts } = await read('a.docx', docx(body, files, names));
    expect(facts).toMatchObject({ ocrPictures: 2, pictures: 3 });
    expect(warnings).toMatchObject([
      {
        code: 'picture_skipped',
        message: expect.stringContaining(
          '3 pictures within the document were not read (a.emf, b.png, none.png)',
        ),
      },
    ]);
  });

  it('without the models are a warning with the command that installs them', async () => {
    vi.resetModules();
    vi.doMock('#engine/vision', () => ({
      findOcrModels: () => undefined,
      howToGetOcrModels: 'npm install models',
    }));
    const { readDocument: readWithout } = await import('../read-document.js');
    const bytes = docx(
      paragraph('Text.') + drawing('i1'),
      { 'word/media/a.png': png },
      { i1: 'media/a.png' },
    );
    const { blocks, warnings } = await readWithout({ filename: 'a.docx', mimeType: '', bytes });
    expect(blocks.map(({ text }) => text)).toEqual(['Text.', 'A sign']);
    expect(warnings).toMatchObject([{ message: expect.stringContaining('npm install models') }]);
    vi.doUnmock('#engine/vision');
  });
});
