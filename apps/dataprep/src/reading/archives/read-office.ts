import {
  collapseWhitespace,
  unsupportedFile,
  type DocumentBlock,
  type ParsedDocument,
  type ReadingLimits,
  type SourceFile,
} from '../parsed-document.js';
import type { TableCell } from '../tables/table-grid.js';
import { revisedText } from '../revisions.js';
import { tableBlocks, textTableBlocks } from '../tables/table-rows.js';
import { isDescription, pictureBlock, withPictures } from './figures.js';
import { readHtml } from '../read-html.js';
import { XmlArchive, resolvePath, type XmlDocument } from './archive.js';

const presentation = 'ppt/presentation.xml';

/**
 * Reads a presentation: slides in order as pages, titles as headings, shapes and pictures from top to bottom, tables by rows,
 * diagrams and charts, notes after their slide. Hidden slides are left out, unless the sender keeps revisions.
 */
export async function readPptx(file: SourceFile, limits: ReadingLimits): Promise<ParsedDocument> {
  const archive = new XmlArchive(file, limits);
  const paths = new Map(archive.relations(presentation).map(({ id, path }) => [id, path]));
  const $ = archive.xml(presentation);
  const slides = $('p\\:sldId')
    .toArray()
    .slice(0, limits.maxPages)
    .map((element) => paths.get($(element).attr('r:id') ?? ''));
  const hidden: number[] = [];
  const blocks = slides.flatMap((path, index) => {
    if (path === undefined || !archive.has(path)) return [];
    const slide = archive.xml(path);
    const isHidden = /^(?:0|false)$/.test(slide('p\\:sld').attr('show') ?? '');
    if (isHidden) hidden.push(index + 1);
    return isHidden && file.keepRevisions !== true ? [] : slideBlocks(archive, { slide, path }, index + 1);
  });
  const isLeftOut = hidden.length > 0 && file.keepRevisions !== true;
  const message = `Hidden slides were left out: ${hidden.join(', ')}.`;
  const read: ParsedDocument = { blocks, ...(isLeftOut && { warnings: [{ code: 'hidden_part', message }] }) };
  return withPictures(file, read, limits);
}

function slideBlocks(
  archive: XmlArchive,
  { slide, path }: { slide: XmlDocument; path: string },
  page: number,
): DocumentBlock[] {
  const relations = archive.hasRelations(path) ? archive.relations(path) : [];
  const parts = relations.filter((part) => archive.has(part.path));
  const partsOf = (kind: string) =>
    parts.filter(({ type }) => type.endsWith(`/${kind}`)).map((part) => archive.xml(part.path));
  return [
    ...textBlocks(slide, page, new Map(relations.map((each) => [each.id, each.path]))),
    ...partsOf('diagramData').flatMap((part) => diagramBlocks(part, page)),
    ...partsOf('chart').flatMap((part) => chartBlocks(part, page)),
    ...partsOf('notesSlide').flatMap((part) => textBlocks(part, page)),
  ];
}

/** The texts of a diagram. */
function diagramBlocks($: XmlDocument, page: number): DocumentBlock[] {
  const points = $('dgm\\:pt').toArray();
  return points.flatMap((point) =>
    paragraphsOf($, $(point)).map((text): DocumentBlock => ({ kind: 'list-item', text, page })),
  );
}

/** The title of a chart, and its values as a table of categories and series. */
function chartBlocks($: XmlDocument, page: number): DocumentBlock[] {
  const valuesOf = (element: Selection) =>
    element
      .find('c\\:pt')
      .toArray()
      .map((point) => $(point).children('c\\:v').text());
  const series = $('c\\:ser')
    .toArray()
    .map((element) => $(element));
  const categories = series[0] ? valuesOf(series[0].children('c\\:cat')) : [];
  const names = series.map((each) => valuesOf(each.children('c\\:tx'))[0] ?? '');
  const values = series.map((each) => valuesOf(each.children('c\\:val')));
  const rows = categories.map((category, at) => [category, ...values.map((each) => each[at] ?? '')]);
  const title = paragraphsOf($, $('c\\:title').first()).join(' ');
  return [
    ...(title === '' ? [] : [{ kind: 'caption' as const, text: title, page }]),
    ...(rows.length === 0 ? [] : textTableBlocks([['', ...names], ...rows], { headerRows: 1 })).map(
      (block) => ({ ...block, page }),
    ),
  ];
}

/** Shapes from top to bottom and from left to right, with the title first. A shape without a place keeps its order. */
function inVisualOrder($: XmlDocument): Selection['0'][] {
  const placed = $('p\\:sp, a\\:tbl, p\\:pic')
    .toArray()
    .map((element, order) => {
      const frame = $(element).closest('p\\:grpSp, p\\:graphicFrame');
      const outer = $(element).parents('p\\:grpSp').last();
      const place = (outer.length > 0 ? outer : frame.length > 0 ? frame : $(element))
        .find('a\\:off')
        .first();
      const isTitle = /^(?:title|ctrTitle)$/.test($(element).find('p\\:ph').first().attr('type') ?? '');
      return {
        element,
        order,
        isTitle,
        x: Number(place.attr('x') ?? NaN),
        y: Number(place.attr('y') ?? NaN),
      };
    });
  const hasPlaces = placed.every(({ isTitle, x, y }) => isTitle || !Number.isNaN(x + y));
  const sorted = placed.toSorted((one, other) => {
    if (one.isTitle !== other.isTitle) return one.isTitle ? -1 : 1;
    return hasPlaces
      ? one.y - other.y || one.x - other.x || one.order - other.order
      : one.order - other.order;
  });
  return sorted.map(({ element }) => element);
}

/** `pictures`: paths by the ids of their relations. */
function textBlocks(
  $: XmlDocument,
  page: number,
  pictures: ReadonlyMap<string, string> = new Map(),
): DocumentBlock[] {
  return inVisualOrder($).flatMap((element): DocumentBlock[] => {
    const shape = $(element);
    if (shape.is('p\\:pic')) return figureBlocks(shape, page, pictures);
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

/** The description of a picture, and the place of its text. */
function figureBlocks(
  shape: Selection,
  page: number,
  pictures: ReadonlyMap<string, string>,
): DocumentBlock[] {
  const text = collapseWhitespace(shape.find('p\\:cNvPr').attr('descr') ?? '');
  const path = pictures.get(shape.find('a\\:blip').attr('r:embed') ?? '');
  return [
    ...(isDescription(text) ? [{ kind: 'caption' as const, text, page }] : []),
    ...(path === undefined ? [] : [pictureBlock(path, page)]),
  ];
}

/** Texts of the paragraphs. Line breaks and fields are part of the text of their paragraph. */
function paragraphsOf($: XmlDocument, element: Selection): string[] {
  return element
    .find('a\\:p')
    .toArray()
    .map((paragraph) => {
      const parts = $(paragraph).find('a\\:t, a\\:br').toArray();
      return collapseWhitespace(parts.map((part) => shownText($(part))).join(''));
    })
    .filter(Boolean);
}

/** The text of a run, unless it is struck out. */
function shownText(part: Selection): string {
  const strike = part.siblings('a\\:rPr').attr('strike') ?? 'noStrike';
  return strike === 'noStrike' ? part.text() || ' ' : revisedText(part.text(), 'struck');
}

type Selection = ReturnType<XmlDocument>;

/** Cells of a table, row by row. Places that a cell of another row or column covers have no cell of their own. */
function cellsOf($: XmlDocument, rows: Selection, textOf: (cell: Selection) => string): TableCell[][] {
  return rows.toArray().map((row) =>
    $(row)
      .children('a\\:tc:not([hMerge="1"], [vMerge="1"])')
      .toArray()
      .map((cell) => ({
        text: textOf($(cell)),
        columns: Number(cell.attribs['gridSpan'] ?? 1),
        rows: Number(cell.attribs['rowSpan'] ?? 1),
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
