import { describe, expect, it } from 'vitest';
import { makeDocx, paragraph } from '../../../../../test/fixtures/dataprep/make-docx.js';
import { makeEpub, makeOdt, makePptx, makeXlsx } from '../../../../../test/fixtures/dataprep/make-office.js';
import { makeZip } from '../../../../../test/fixtures/dataprep/make-zip.js';
import { readDocument } from '../read-document.js';
import { resolvePath, unpackFiles } from './archive.js';

const fact = 'The zarf is made of tin.';
const notes = 'The notes mention copper.';
const drawing = 'http://schemas.openxmlformats.org/drawingml/2006/main';

type Files = Record<string, string>;
const filesOf = (bytes: Uint8Array): Files =>
  Object.fromEntries(
    [...unpackFiles(bytes, 'x', { maxBytes: 1_000_000, isWanted: () => true })].map(([name, content]) => [
      name,
      Buffer.from(content).toString(),
    ]),
  );

/** A presentation of one slide with speaker notes. */
const withNotes = (): Files => ({
  ...filesOf(makePptx([['Title', fact]])),
  'ppt/slides/_rels/slide1.xml.rels':
    '<Relationships><Relationship Id="n" Type="http://purl.oclc.org/ooxml/officeDocument/relationships/notesSlide" Target="../notesSlides/notesSlide1.xml"/></Relationships>',
  'ppt/notesSlides/notesSlide1.xml': `<p:notes xmlns:p="p" xmlns:a="${drawing}"><p:sp><a:p><a:r><a:t>${notes}</a:t></a:r></a:p></p:sp></p:notes>`,
});

const documents: [filename: string, files: Files, texts: string[]][] = [
  ['a.docx', filesOf(makeDocx([paragraph(fact)])), [fact]],
  ['a.xlsx', filesOf(makeXlsx({ One: [[fact]] })), [fact]],
  ['a.pptx', withNotes(), [fact, notes]],
  ['a.odt', filesOf(makeOdt(`<text:p>${fact}</text:p>`)), [fact]],
  ['a.epub', filesOf(makeEpub('Book', [`<p>${fact}</p>`])), [fact]],
];

async function textsOf(filename: string, files: Files): Promise<string[]> {
  const { blocks } = await readDocument({ filename, mimeType: '', bytes: makeZip(files) });
  return blocks.map(({ text }) => text);
}

const renamed = (files: Files, rename: (name: string) => string): Files =>
  Object.fromEntries(Object.entries(files).map(([name, content]) => [rename(name), content]));

/** The file with its references from the root of the archive. */
function absolute(name: string, content: string): string {
  // The file of a part's relations is in a folder of its own.
  const part = name.replace(/_rels\/([^/]*)\.rels$/, '$1');
  const fromRoot = (_all: string, attribute: string, target: string) =>
    `${attribute}="/${resolvePath(part, target)}"`;
  if (name.endsWith('.rels')) return content.replaceAll(/(Target)="([^"]*)"/g, fromRoot);
  if (name.endsWith('.opf')) return content.replaceAll(/(href)="([^"]*)"/g, fromRoot);
  return name.endsWith('container.xml') ? content.replace('full-path="', 'full-path="/') : content;
}

describe.each(documents)('%s', (filename, files, texts) => {
  it.each([
    ['backslashes between folders', (name: string) => name.replaceAll('/', '\\')],
    ['a dot in front', (name: string) => `./${name}`],
    ['a slash in front', (name: string) => `/${name}`],
  ])('is read where its entries have %s', async (_what, rename) => {
    expect(await textsOf(filename, renamed(files, rename))).toEqual(expect.arrayContaining(texts));
  });

  it('is read where its references begin at the root of the archive', async () => {
    const entries = Object.entries(files).map(([name, content]) => [name, absolute(name, content)] as const);
    expect(await textsOf(filename, Object.fromEntries(entries))).toEqual(expect.arrayContaining(texts));
  });
});
