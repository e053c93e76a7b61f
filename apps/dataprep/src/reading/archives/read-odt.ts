import { collapseWhitespace } from '../collapse-whitespace.js';
import type { DocumentBlock, ParsedDocument, ReadingLimits, SourceFile } from '../parsed-document.js';
import { tableRows } from '../table-rows.js';
import { XmlArchive, type XmlDocument } from './xml-archive.js';

type Selection = ReturnType<XmlDocument>;

/** What is no text of the document: notes of reviewers, changes that were taken out, forms, contents made of its headings. */
const dropped = 'office\\:annotation, text\\:tracked-changes, office\\:forms, text\\:table-of-content';

/** An OpenDocument text: headings with their levels, paragraphs, items of lists, tables by rows. */
export function readOdt(file: SourceFile, limits: ReadingLimits): ParsedDocument {
  const $ = new XmlArchive(file, limits).xml('content.xml');
  $(dropped).remove();
  $('text\\:s, text\\:tab, text\\:line-break').replaceWith(' ');
  const blocks = $('text\\:h, text\\:p, table\\:table')
    .toArray()
    .flatMap((element): DocumentBlock[] => {
      const node = $(element);
      if (node.parents('table\\:table').length > 0) return [];
      return node.is('table\\:table') ? rowsOf($, node) : [blockOf(node)];
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

function rowsOf($: XmlDocument, table: Selection): DocumentBlock[] {
  const rows = table
    .find('table\\:table-row')
    .toArray()
    .map((row) =>
      $(row)
        .children('table\\:table-cell')
        .toArray()
        .map((cell) => $(cell).text()),
    );
  const [headers = [], ...body] = rows;
  return tableRows(headers, body);
}
