import { posix } from 'node:path';
import { unpackFiles } from './archive.js';
import {
  defaultMaxScannedPages,
  type DocumentBlock,
  type ParsedDocument,
  type ReadingLimits,
  type SourceFile,
} from '../parsed-document.js';
import { blocksOfPicture } from '../pictures/read-picture.js';
import { missingModels } from '../pictures/scan-reader.js';

/** Whether a description of a picture is a text, and not empty or the name of its file. */
export function isDescription(text: string): boolean {
  return /\p{L}{2}/u.test(text) && !/\.\w{3,4}$/.test(text);
}

/** The place of a picture in a document. {@link withPictures} puts its text there. */
export function pictureBlock(path: string, page?: number): DocumentBlock {
  return { kind: 'figure', text: '', picture: path, ...(page !== undefined && { page }) };
}

/**
 * Reads the text in the pictures of a document that is a zip archive, and puts it at their places: a picture that is in
 * several places, such as a logo, at the first one. Pictures that cannot be read are a warning.
 */
export async function withPictures(
  file: SourceFile,
  document: ParsedDocument,
  limits: ReadingLimits,
): Promise<ParsedDocument> {
  const paths = new Set(document.blocks.flatMap(({ picture }) => picture ?? []));
  if (paths.size === 0) return document;
  const command = await missingModels();
  const max = command ? 0 : (limits.maxScannedPages ?? defaultMaxScannedPages);
  const chosen = new Set([...paths].slice(0, max));
  const files = unpackFiles(file.bytes, file.filename, {
    maxBytes: limits.maxUnpackedBytes,
    isWanted: (name) => chosen.has(name),
  });
  const texts = new Map<string, DocumentBlock[]>();
  const left: string[] = [];
  for (const path of paths) {
    const bytes = files.get(path);
    const blocks =
      bytes && (await blocksOfPicture({ ...file, filename: path, bytes }, limits).catch(() => undefined));
    if (blocks) texts.set(path, blocks.map(asFigure));
    else left.push(posix.basename(path));
  }
  const blocks = document.blocks.flatMap((block) => {
    if (block.picture === undefined) return [block];
    const { page, picture } = block;
    const found = texts.get(picture) ?? [];
    texts.delete(picture);
    return found.map((each) => ({ ...each, ...(page !== undefined && { page }) }));
  });
  return { ...document, blocks, ...factsOf(document, { read: paths.size - left.length, left, command }) };
}

/** A picture has paragraphs and tables of its own, but it does not begin a section of the document. */
function asFigure({ level: _level, page: _page, ends: _ends, ...block }: DocumentBlock): DocumentBlock {
  return block.kind === 'table-row' || block.kind === 'list-item' ? block : { ...block, kind: 'figure' };
}

const maxNamed = 5;

/** Facts and warnings of a document, with those of its pictures. */
function factsOf(
  { facts, warnings = [] }: Pick<ParsedDocument, 'facts' | 'warnings'>,
  { read, left, command }: { read: number; left: readonly string[]; command?: string },
): Pick<ParsedDocument, 'facts' | 'warnings'> {
  const names = left.slice(0, maxNamed).join(', ') + (left.length > maxNamed ? ' …' : '');
  const reason = command ? `; to read them, install the models: ${command}` : ` (${names})`;
  const message = `${left.length} pictures within the document were not read${reason}`;
  return {
    facts: {
      ...facts,
      ...(read > 0 && { ocrPictures: read }),
      ...(left.length > 0 && { pictures: left.length }),
    },
    ...((warnings.length > 0 || left.length > 0) && {
      warnings: [...warnings, ...(left.length > 0 ? [{ code: 'picture_skipped' as const, message }] : [])],
    }),
  };
}
