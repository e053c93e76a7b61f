import { posix } from 'node:path';
import {
  collapseWhitespace,
  unsupportedFile,
  type ParsedDocument,
  type ReadingLimits,
  type SourceFile,
} from '../parsed-document.js';
import { readHtml } from '../read-html.js';
import { XmlArchive } from './archive.js';

/** A book: the pages of its spine in their order. */
export function readEpub(file: SourceFile, limits: ReadingLimits): ParsedDocument {
  const archive = new XmlArchive(file, limits);
  if (archive.has('META-INF/encryption.xml') && archive.has('META-INF/rights.xml'))
    throw unsupportedFile(file.filename, 'it is protected against copying');
  const book = archive.xml('META-INF/container.xml')('rootfile').first().attr('full-path') ?? '';
  const $ = archive.xml(book);
  const pathOf = new Map(
    $('manifest > item')
      .toArray()
      .map((item) => [
        $(item).attr('id'),
        posix.join(posix.dirname(book), decoded($(item).attr('href') ?? '')),
      ]),
  );
  const pages = $('spine > itemref')
    .toArray()
    .map((item) => pathOf.get($(item).attr('idref')))
    .filter((path) => path !== undefined && archive.has(path));
  const blocks = pages.flatMap((path) => readHtml(archive.text(path!)).blocks);
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
