import {
  collapseWhitespace,
  unsupportedFile,
  type DocumentBlock,
  type ParsedDocument,
  type ReadingLimits,
  type ReadingWarning,
  type SourceFile,
} from '../parsed-document.js';
import { openPdf, type PdfDocument } from './content/open-pdf.js';
import { readOutline, withOutline } from './layout/outline.js';
import { reportPages } from '../page-progress.js';
import { isPicture, readScannedPages, type ScannedPages } from '../pictures/scanned-pages.js';
import { readPageContent, type PageContent } from './content/page-content.js';
import { layOutPages } from './layout/lay-out-pages.js';

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
    const pages: PageContent[] = [];
    // Pages for OCR are read later.
    let readable = 0;
    for (let number = 1; number <= pdf.numPages; number += 1) {
      const page = await pdf.getPage(number);
      const content = await readPageContent(pdf, page);
      page.cleanup();
      pages.push(content);
      if (!isPicture(content)) reportPages((readable += 1), pdf.numPages);
    }
    const scanned = await readScannedPages(bytes, pages, limits);
    const blocks = await withLabels(pdf, withOutline(layOutPages(pages), await readOutline(pdf)));
    if (blocks.length === 0) throw unsupportedFile(filename, reasonOf(pages, scanned));
    const title = (await titleOf(pdf)) ?? blocks.find(({ level, page }) => level === 1 && page === 1)?.text;
    const warnings = warningsOf(pages, scanned);
    const tables = blocks.filter(({ startsTable }) => startsTable).length;
    return {
      ...(title && { title }),
      blocks,
      facts: {
        pages: pages.length,
        ...(scanned.read > 0 && { ocrPages: scanned.read }),
        ...(tables > 0 && { tables }),
      },
      ...(warnings.length > 0 && { warnings }),
    };
  } finally {
    await pdf.cleanup();
    await pdf.destroy();
  }
}

const maxLabel = 40;

/** Blocks with what their pages are called. A damaged list of names is left out. */
async function withLabels(pdf: PdfDocument, blocks: readonly DocumentBlock[]): Promise<DocumentBlock[]> {
  const labels = (await pdf.getPageLabels().catch(() => null)) ?? [];
  return blocks.map((block) => {
    const label = collapseWhitespace(labels[(block.page ?? 0) - 1] ?? '').slice(0, maxLabel);
    return label === '' || label === String(block.page) ? block : { ...block, pageLabel: label };
  });
}

/** Why a PDF has no text. */
function reasonOf(pages: readonly PageContent[], { command }: ScannedPages): string {
  const reason = pages.some(({ unreadable }) => unreadable.glyphs > 0)
    ? 'its fonts do not say which characters they show'
    : 'it holds no text (it may be a scan)';
  return command ? `${reason}. To read scans, install the models: ${command}` : reason;
}

/** What was not read: characters of fonts without a text, and pages with pictures only. */
function warningsOf(pages: readonly PageContent[], { left, command }: ScannedPages): ReadingWarning[] {
  const warnings: ReadingWarning[] = [];
  const unreadable = pagesWith(pages, (page) => page.unreadable.glyphs > 0);
  if (unreadable.length > 0) {
    const fonts = new Set(pages.flatMap((page) => [...page.unreadable.fonts]).filter(Boolean));
    const count = pages.reduce((sum, page) => sum + page.unreadable.glyphs, 0);
    const named = fonts.size > 0 ? ` (fonts ${[...fonts].slice(0, 5).join(', ')})` : '';
    const message = `${count} characters on ${pageList(unreadable)} could not be read: the file does not say which they are${named}`;
    warnings.push({ code: 'part_unreadable', message });
  }
  if (left.length > 0) {
    const how = command
      ? `; to read them, install the models: ${command}`
      : ': the document has too many of them';
    warnings.push({
      code: 'picture_skipped',
      message: `the pictures on ${pageList(left)} were not read${how}`,
    });
  }
  return warnings;
}

function pagesWith(pages: readonly PageContent[], hasPart: (page: PageContent) => boolean): number[] {
  return pages.flatMap((page, index) => (hasPart(page) ? [index + 1] : []));
}

const maxListed = 10;

function pageList(numbers: readonly number[]): string {
  const listed = numbers.slice(0, maxListed).join(', ');
  return `page${numbers.length > 1 ? 's' : ''} ${listed}${numbers.length > maxListed ? ' …' : ''}`;
}

async function titleOf(pdf: PdfDocument): Promise<string | undefined> {
  const { info } = await pdf.getMetadata();
  const title = (info as Record<string, unknown>).Title;
  return typeof title === 'string' && title.trim() ? title.trim() : undefined;
}
