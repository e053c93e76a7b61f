import { getDocumentProxy } from 'unpdf';
import { layOutPages, type TextRun } from './pdf-layout.js';
import {
  unsupportedFile,
  type ParsedDocument,
  type ReadingLimits,
  type SourceFile,
} from '../parsed-document.js';

type PdfDocument = Awaited<ReturnType<typeof getDocumentProxy>>;

/** An item from pdf.js: text, or a mark (without `str`) that only encloses content. */
interface PdfTextItem {
  str?: string;
  /** The text matrix: a, b, c, d, x, y. */
  transform: number[];
  width: number;
  height: number;
  hasEOL: boolean;
}

/**
 * Reads the text of a PDF in reading order, with page numbers. Throws `unsupported_file` for a PDF with a password,
 * with too many pages, or without text.
 */
export async function readPdf(
  { bytes, filename }: SourceFile,
  limits: ReadingLimits,
): Promise<ParsedDocument> {
  const pdf = await openPdf(bytes, filename);
  try {
    if (pdf.numPages > limits.maxPages) {
      throw unsupportedFile(filename, `it has ${pdf.numPages} pages, more than ${limits.maxPages}`);
    }
    const pages: TextRun[][] = [];
    for (let number = 1; number <= pdf.numPages; number += 1) pages.push(await readRuns(pdf, number));
    const blocks = layOutPages(pages);
    if (blocks.length === 0) throw unsupportedFile(filename, 'it holds no text (it may be a scan)');
    const title = (await titleOf(pdf)) ?? blocks.find(({ level, page }) => level === 1 && page === 1)?.text;
    return { ...(title && { title }), blocks };
  } finally {
    await pdf.cleanup();
    await pdf.destroy();
  }
}

async function openPdf(bytes: Uint8Array, filename: string): Promise<PdfDocument> {
  try {
    // The parser takes ownership of the buffer, so that it needs a copy. verbosity 0: errors only.
    return await getDocumentProxy(new Uint8Array(bytes), { verbosity: 0 });
  } catch (error) {
    const { name, message } = error as Error;
    const isLocked = name === 'PasswordException';
    throw unsupportedFile(
      filename,
      isLocked ? 'it is locked by a password' : `it is not a valid PDF (${message})`,
      error,
    );
  }
}

async function readRuns(pdf: PdfDocument, pageNumber: number): Promise<TextRun[]> {
  const page = await pdf.getPage(pageNumber);
  const { items } = await page.getTextContent();
  page.cleanup();
  return (items as PdfTextItem[]).flatMap((item) => {
    if (item.str === undefined) return [];
    const [, , skew = 0, scale = 0, x = 0, y = 0] = item.transform;
    const size = Math.hypot(skew, scale) || item.height;
    return [{ text: item.str, x, y, width: item.width, size, endsLine: item.hasEOL }];
  });
}

async function titleOf(pdf: PdfDocument): Promise<string | undefined> {
  const { info } = await pdf.getMetadata();
  const title = (info as Record<string, unknown>).Title;
  return typeof title === 'string' && title.trim() ? title.trim() : undefined;
}
