import { XmlArchive, type XmlDocument } from '../archives/archive.js';
import { LinkTargets } from '../html/link-targets.js';
import {
  collapseWhitespace,
  type DocumentBlock,
  type ParsedDocument,
  type ReadingLimits,
  type SourceFile,
} from '../parsed-document.js';
import { withPictures } from '../archives/figures.js';
import { Numbering } from './numbering.js';
import { WordBlocks } from './word-blocks.js';
import { wordStyles } from './word-styles.js';
import {
  attributeOf,
  childOf,
  elementsOf,
  nameOf,
  textWithin,
  type XmlElement,
} from '../archives/xml-nodes.js';

const usualPath = 'word/document.xml';

/**
 * Reads a Word document: headings, paragraphs and lists with their numbers, tables, notes after their paragraph, text
 * boxes, equations, the text in pictures. The texts of page headers come first and those of footers last, each once.
 */
export async function readDocx(file: SourceFile, limits: ReadingLimits): Promise<ParsedDocument> {
  const archive = new XmlArchive(file, limits);
  const path = mainPart(archive);
  const relations = archive.hasRelations(path) ? archive.relations(path) : [];
  const partsOf = (kind: string) =>
    relations
      .filter(({ type, path: part }) => type.endsWith(`/${kind}`) && archive.has(part))
      .map((each) => archive.xml(each.path));
  const [styles] = partsOf('styles');
  const [numbering] = partsOf('numbering');
  const document = archive.xml(path);
  const targets = new Map(
    relations.filter(({ type }) => type.endsWith('/hyperlink')).map(({ id, target }) => [id, target]),
  );
  const reader = new WordBlocks({
    styles: wordStyles(styles),
    targets,
    pictures: new Map(relations.map((each) => [each.id, each.path])),
    links: new LinkTargets([...targets.values()], targets.size > 0 ? textWithin(document.root()[0]!) : ''),
    keepsRevisions: file.keepRevisions ?? false,
    numbering: new Numbering(numbering),
    notes: new Map([
      ...notesOf(partsOf('footnotes')[0], 'footnote'),
      ...notesOf(partsOf('endnotes')[0], 'endnote'),
    ]),
  });
  const around = (kind: string) => onceEach(partsOf(kind).flatMap(($) => reader.read(rootOf($))));
  const headers = around('header');
  const body = reader.read(childOf(rootOf(document), 'body'));
  const blocks = [...headers, ...body, ...around('footer')];
  const title = body.find(({ level }) => level === 1)?.text;
  const warnings = reader.warnings();
  const read = { ...(title && { title }), blocks, ...(warnings.length > 0 && { warnings }) };
  return withPictures(file, read, limits);
}

function mainPart(archive: XmlArchive): string {
  const relation = archive.hasRelations('')
    ? archive.relations('').find(({ type }) => type.endsWith('/officeDocument'))
    : undefined;
  return relation && archive.has(relation.path) ? relation.path : usualPath;
}

const rootOf = ($: XmlDocument): XmlElement | undefined => elementsOf($.root()[0])[0];

/** The notes of a part by their kind and id. */
function notesOf($: XmlDocument | undefined, kind: string): [string, XmlElement][] {
  return elementsOf($ && rootOf($))
    .filter((element) => nameOf(element) === kind && attributeOf(element, 'type') === undefined)
    .map((element) => [`${kind} ${attributeOf(element, 'id') ?? ''}`, element]);
}

/** Page headers of different kinds mostly repeat each other, and have page numbers. */
function onceEach(blocks: readonly DocumentBlock[]): DocumentBlock[] {
  const known = new Set<string>();
  return blocks.flatMap((block): DocumentBlock[] => {
    const text = collapseWhitespace(
      block.text.replace(/\b(?:page|seite|p\.)\s*\d+(?:\s*(?:of|von|\/)\s*\d+)?|^\W*\d+\W*$/i, ''),
    );
    if (!/\p{L}{2}/u.test(text) || known.has(text)) return [];
    known.add(text);
    return [{ kind: 'paragraph', text }];
  });
}
