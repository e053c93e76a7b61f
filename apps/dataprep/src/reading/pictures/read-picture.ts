import type { Picture } from '#engine/vision';
import type { PageContent } from '../pdf/content/page-content.js';
import { layOutPages } from '../pdf/layout/lay-out-pages.js';
import {
  defaultMaxScannedPages,
  unsupportedFile,
  type DocumentBlock,
  type ParsedDocument,
  type ReadingLimits,
  type SourceFile,
} from '../parsed-document.js';
import { reportPages } from '../page-progress.js';
import { missingModels, readPageOfPicture } from './scan-reader.js';

/** Points of a pixel of a picture that does not say its density: 150 pixels for an inch. */
const scale = 72 / 150;
/** Maximum pixels of a page, the size of 8K video. A small file can say that it has many more. */
const maxPixels = 7680 * 4320;

/** Reads the text in a PNG, JPEG, WebP or TIFF file. Throws `unsupported_file` if it has none, or without the models. */
export async function readPicture(file: SourceFile, limits: ReadingLimits): Promise<ParsedDocument> {
  const { filename } = file;
  const command = await missingModels();
  if (command) {
    const detail = `it is a picture, and the models that read text in pictures are not installed (run ${command})`;
    throw unsupportedFile(filename, detail);
  }
  const { pages, blocks } = await layOutPicture(file, limits);
  if (blocks.length === 0) throw unsupportedFile(filename, 'it is a picture without text');
  return {
    blocks: pages > 1 ? blocks : blocks.map(({ page: _only, ...block }) => block),
    facts: { ocrPages: pages },
  };
}

/** Pictures with shorter sides are icons, bullets and lines. */
const minSide = 24;
/** Pictures of a document have words; single letters are mostly read into shapes. */
const hasWords = /[\p{L}\p{N}]{2}/u;

/**
 * The text in a picture of a document; an empty list if it has none. Errors: unsupported_file for a format that is not
 * read, and for a damaged picture.
 */
export async function blocksOfPicture(file: SourceFile, limits: ReadingLimits): Promise<DocumentBlock[]> {
  const { blocks } = await layOutPicture(file, limits, minSide);
  return blocks.filter(({ text }) => hasWords.test(text));
}

async function layOutPicture(file: SourceFile, limits: ReadingLimits, leastSide = 1) {
  const pages: PageContent[] = [];
  for await (const { picture, total } of picturesOf(file, limits)) {
    if (Math.min(picture.width, picture.height) < leastSide) continue;
    pages.push(await readPageOfPicture(picture, scale));
    reportPages(pages.length, total);
  }
  return { pages: pages.length, blocks: layOutPages(pages) };
}

async function* picturesOf(
  { bytes, filename }: SourceFile,
  { maxScannedPages = defaultMaxScannedPages }: ReadingLimits,
): AsyncGenerator<{ picture: Picture; total: number }> {
  if (!isTiff(bytes)) {
    const { decodePicture } = await import('#engine/vision');
    const picture = await decodePicture(bytes, filename).catch((error: unknown) => {
      throw unsupportedFile(filename, 'it is a damaged picture, or one with too many pixels', error);
    });
    yield { picture, total: 1 };
    return;
  }
  const { default: UTIF } = await import('utif2');
  const buffer = new Uint8Array(bytes).buffer;
  const pages = UTIF.decode(buffer).filter((page) => page['t256'] !== undefined);
  if (pages.length > maxScannedPages)
    throw unsupportedFile(filename, `it has ${pages.length} pages, more than ${maxScannedPages}`);
  for (const page of pages) {
    const [width = 0, height = 0] = [page['t256'], page['t257']].map((value) =>
      Number((value as number[])[0]),
    );
    if (width * height > maxPixels)
      throw unsupportedFile(filename, `it has a page of ${width} × ${height} pixels`);
    UTIF.decodeImage(buffer, page);
    const rgba = UTIF.toRGBA8(page);
    const pixels = new Uint8Array(page.width * page.height * 3);
    for (let at = 0, from = 0; at < pixels.length; at += 3, from += 4)
      pixels.set(rgba.subarray(from, from + 3), at);
    yield { picture: { width: page.width, height: page.height, pixels }, total: pages.length };
  }
}

function isTiff([first, second, third, fourth]: Uint8Array): boolean {
  const isLittle = first === 0x49 && second === 0x49 && third === 42 && fourth === 0;
  return isLittle || (first === 0x4d && second === 0x4d && third === 0 && fourth === 42);
}
