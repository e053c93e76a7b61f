import { collapseWhitespace } from '../collapse-whitespace.js';
import type { DocumentBlock, ParsedDocument, ReadingLimits, SourceFile } from '../parsed-document.js';
import { tableRows } from '../table-rows.js';
import { XmlArchive, type XmlDocument } from './xml-archive.js';

const presentation = 'ppt/presentation.xml';

/** A presentation: slides in their order as pages, titles as headings, tables by rows, notes behind their slide. */
export function readPptx(file: SourceFile, limits: ReadingLimits): ParsedDocument {
  const archive = new XmlArchive(file, limits);
  const relations = archive.relations(presentation);
  const $ = archive.xml(presentation);
  const slides = $('p\\:sldId')
    .toArray()
    .slice(0, limits.maxPages)
    .map((element) => relations.get($(element).attr('r:id') ?? ''));
  const blocks = slides.flatMap((path, index) =>
    path !== undefined && archive.has(path) ? slideBlocks(archive, path, index + 1) : [],
  );
  return { blocks };
}

function slideBlocks(archive: XmlArchive, path: string, page: number): DocumentBlock[] {
  const blocks = textBlocks(archive.xml(path), page);
  const notes = notesOf(archive, path);
  return notes ? [...blocks, ...textBlocks(archive.xml(notes), page)] : blocks;
}

function notesOf(archive: XmlArchive, path: string): string | undefined {
  if (!archive.has(path.replace(/([^/]+)$/, '_rels/$1.rels'))) return undefined;
  return [...archive.relations(path).values()].find(
    (target) => target.includes('/notesSlides/') && archive.has(target),
  );
}

function textBlocks($: XmlDocument, page: number): DocumentBlock[] {
  return $('p\\:sp, a\\:tbl')
    .toArray()
    .flatMap((element): DocumentBlock[] => {
      const shape = $(element);
      if (shape.is('a\\:tbl')) return tableBlocks($, shape, page);
      const placeholder = shape.find('p\\:ph').first().attr('type') ?? '';
      if (/^(sldNum|dt|ftr|hdr|sldImg)$/.test(placeholder)) return [];
      const isTitle = placeholder === 'title' || placeholder === 'ctrTitle';
      return paragraphsOf($, shape).map((text) =>
        isTitle ? { kind: 'heading', level: 1, text, page } : { kind: 'paragraph', text, page },
      );
    });
}

type Selection = ReturnType<XmlDocument>;

function tableBlocks($: XmlDocument, table: Selection, page: number): DocumentBlock[] {
  const rows = table
    .find('a\\:tr')
    .toArray()
    .map((row) =>
      $(row)
        .find('a\\:tc')
        .toArray()
        .map((cell) => paragraphsOf($, $(cell)).join(' ')),
    );
  const [headers = [], ...body] = rows;
  return tableRows(headers, body).map((block) => ({ ...block, page }));
}

/** Line breaks and fields count as text of their paragraph. */
function paragraphsOf($: XmlDocument, element: Selection): string[] {
  return element
    .find('a\\:p')
    .toArray()
    .map((paragraph) => {
      const parts = $(paragraph).find('a\\:t, a\\:br').toArray();
      return collapseWhitespace(parts.map((part) => $(part).text() || ' ').join(''));
    })
    .filter(Boolean);
}
