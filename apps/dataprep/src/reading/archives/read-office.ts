import {
  collapseWhitespace,
  unsupportedFile,
  type DocumentBlock,
  type ParsedDocument,
  type ReadingLimits,
  type SourceFile,
} from '../parsed-document.js';
import type { TableCell } from '../tables/table-grid.js';
import { tableBlocks } from '../tables/table-rows.js';
import { readHtml } from '../read-html.js';
import { XmlArchive, resolvePath, type XmlDocument } from './archive.js';

const presentation = 'ppt/presentation.xml';

/** Reads a presentation: slides in order as pages, titles as headings, tables by rows, notes after their slide. */
export function readPptx(file: SourceFile, limits: ReadingLimits): ParsedDocument {
  const archive = new XmlArchive(file, limits);
  const paths = new Map(archive.relations(presentation).map(({ id, path }) => [id, path]));
  const $ = archive.xml(presentation);
  const slides = $('p\\:sldId')
    .toArray()
    .slice(0, limits.maxPages)
    .map((element) => paths.get($(element).attr('r:id') ?? ''));
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

function notesOf(archive: XmlArchive, slide: string): string | undefined {
  if (!archive.hasRelations(slide)) return undefined;
  const notes = archive.relations(slide).find(({ type }) => type.endsWith('/notesSlide'));
  return notes && archive.has(notes.path) ? notes.path : undefined;
}

function textBlocks($: XmlDocument, page: number): DocumentBlock[] {
  return $('p\\:sp, a\\:tbl')
    .toArray()
    .flatMap((element): DocumentBlock[] => {
      const shape = $(element);
      if (shape.is('a\\:tbl')) {
        const rows = cellsOf($, shape.find('a\\:tr'), (cell) => paragraphsOf($, cell).join(' '));
        return tableBlocks({ rows, startsWithHeaders: true }).map((block) => ({ ...block, page }));
      }
      const placeholder = shape.find('p\\:ph').first().attr('type') ?? '';
      if (/^(sldNum|dt|ftr|hdr|sldImg)$/.test(placeholder)) return [];
      const isTitle = placeholder === 'title' || placeholder === 'ctrTitle';
      return paragraphsOf($, shape).map((text) =>
        isTitle ? { kind: 'heading', level: 1, text, page } : { kind: 'paragraph', text, page },
      );
    });
}

/** Texts of the paragraphs. Line breaks and fields are part of the text of their paragraph. */
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

/** Parts that are not text of the document: comments of reviewers, deleted changes, forms, the table of contents. */
const dropped = 'office\\:annotation, text\\:tracked-changes, office\\:forms, text\\:table-of-content';

/** Reads an OpenDocument text: headings with their levels, paragraphs, list items, tables by rows. */
export function readOdt(file: SourceFile, limits: ReadingLimits): ParsedDocument {
  const $ = new XmlArchive(file, limits).xml('content.xml');
  $(dropped).remove();
  $('text\\:s, text\\:tab, text\\:line-break').replaceWith(' ');
  const blocks = $('text\\:h, text\\:p, table\\:table')
    .toArray()
    .flatMap((element): DocumentBlock[] => {
      const node = $(element);
      if (node.parents('table\\:table').length > 0) return [];
      if (!node.is('table\\:table')) return [blockOf(node)];
      const rows = cellsOf($, node.find('table\\:table-row'), (cell) => cell.text());
      const headerRows = node.children('table\\:table-header-rows').children('table\\:table-row').length;
      return tableBlocks({ rows, headerRows, startsWithHeaders: true });
    });
  const heading = blocks.find(({ level }) => level === 1)?.text;
  return { ...(heading && { title: heading }), blocks };
}

function blockOf(node: Selection): DocumentBlock {
  const text = collapseWhitespace(node.text());
  if (node.is('text\\:h'))
    return { kind: 'heading', level: Number(node.attr('text:outline-level') ?? 1) || 1, text };
  return { kind: node.parents('text\\:list-item').length > 0 ? 'list-item' : 'paragraph', text };
}

type Selection = ReturnType<XmlDocument>;

/** Cells of a table, row by row. Places that a cell of another row or column covers have no cell of their own. */
function cellsOf($: XmlDocument, rows: Selection, textOf: (cell: Selection) => string): TableCell[][] {
  return rows.toArray().map((row) =>
    $(row)
      .children('a\\:tc:not([hMerge="1"], [vMerge="1"]), table\\:table-cell')
      .toArray()
      .map((cell) => ({
        text: textOf($(cell)),
        columns: Number(cell.attribs['gridSpan'] ?? cell.attribs['table:number-columns-spanned'] ?? 1),
        rows: Number(cell.attribs['rowSpan'] ?? cell.attribs['table:number-rows-spanned'] ?? 1),
      })),
  );
}

/** Reads a book: the pages of its spine in order. */
export function readEpub(file: SourceFile, limits: ReadingLimits): ParsedDocument {
  const archive = new XmlArchive(file, limits);
  if (archive.has('META-INF/encryption.xml') && archive.has('META-INF/rights.xml'))
    throw unsupportedFile(file.filename, 'it has copy protection');
  const container = archive.xml('META-INF/container.xml');
  const book = resolvePath('', container('rootfile').first().attr('full-path') ?? '');
  const $ = archive.xml(book);
  const pathOf = new Map(
    $('manifest > item')
      .toArray()
      .map((item) => [$(item).attr('id'), resolvePath(book, decoded($(item).attr('href') ?? ''))]),
  );
  const pages = $('spine > itemref')
    .toArray()
    .map((item) => pathOf.get($(item).attr('idref')))
    .filter((path) => path !== undefined && archive.has(path));
  // A page is read once, however often the spine names it.
  const blocks = [...new Set(pages)].flatMap((path) => readHtml(archive.text(path!)).blocks);
  const title = collapseWhitespace($('dc\\:title').first().text());
  return { ...(title && { title }), blocks };
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
