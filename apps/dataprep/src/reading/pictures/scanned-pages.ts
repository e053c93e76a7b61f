import type { PageContent } from '../pdf/content/page-content.js';
import { defaultMaxScannedPages, type ReadingLimits } from '../parsed-document.js';
import { reportPages } from '../page-progress.js';
import { missingModels, readPageOfPicture } from './scan-reader.js';

/** What became of the pages of a PDF that are pictures. */
export interface ScannedPages {
  /** Number of pages that were read. */
  read: number;
  /** Pages that were not read, from 1. */
  left: number[];
  /** The command that installs the models, if they are missing. */
  command?: string;
}

/** Reads the pages that are pictures, or whose fonts do not say which characters they show, in place of their contents. */
export async function readScannedPages(
  bytes: Uint8Array,
  pages: PageContent[],
  { maxScannedPages = defaultMaxScannedPages }: ReadingLimits,
): Promise<ScannedPages> {
  const numbers = pages.flatMap((page, index) => (isPicture(page) ? [index + 1] : []));
  if (numbers.length === 0) return { read: 0, left: [] };
  const command = await missingModels();
  if (command) return { read: 0, left: numbers, command };
  const { renderPages } = await import('./render-pages.js');
  const chosen = numbers.slice(0, maxScannedPages);
  let read = 0;
  for await (const { picture, scale } of renderPages(bytes, chosen)) {
    const index = chosen[read]! - 1;
    const { notes, unreadable } = pages[index]!;
    const page = await readPageOfPicture(picture, scale);
    pages[index] = { ...page, notes, ...(page.readable === 0 && { unreadable }) };
    read += 1;
    reportPages(pages.length - numbers.length + read, pages.length);
  }
  return { read, left: numbers.slice(maxScannedPages) };
}

/** Whether a page has a picture and not a text, or a text whose characters are not known. */
export function isPicture({ readable, unreadable, isPainted, notes }: PageContent): boolean {
  if (unreadable.glyphs > readable) return true;
  // Pictures are left out of the operators, so that they are not decoded.
  return isPainted && readable === 0 && notes.length === 0;
}
