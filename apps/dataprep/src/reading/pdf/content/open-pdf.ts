import { createRequire } from 'node:module';
import { dirname, join, sep } from 'node:path';
import { getDocumentProxy } from 'unpdf';
import { unsupportedFile } from '../../parsed-document.js';

export type PdfDocument = Awaited<ReturnType<typeof getDocumentProxy>>;
export type PdfPage = Awaited<ReturnType<PdfDocument['getPage']>>;

/** Folder of the tables that map the codes of Chinese, Japanese and Korean fonts; unpdf contains none of them. */
function findCMaps(): string {
  return join(dirname(createRequire(import.meta.url).resolve('pdfjs-dist/package.json')), `cmaps${sep}`);
}

/** Opens a PDF. Throws `unsupported_file` for a damaged file and for a file with a password. */
export async function openPdf(bytes: Uint8Array, filename: string): Promise<PdfDocument> {
  addTransfer();
  try {
    return await getDocumentProxy(
      // The parser takes ownership of the buffer, so that it needs a copy.
      new Uint8Array(bytes),
      {
        // Errors only.
        verbosity: 0,
        cMapUrl: findCMaps(),
        cMapPacked: true,
        // Glyph names, for ligatures without a character of their own.
        fontExtraProperties: true,
        // Nothing is painted: fonts need no shapes, and pictures are not decoded.
        disableFontFace: true,
        useSystemFonts: false,
        maxImageSize: 1,
      },
    );
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

/** pdf.js calls `transferToFixedLength`, which Node 20 does not have. */
function addTransfer(): void {
  if ('transferToFixedLength' in ArrayBuffer.prototype) return;
  // oxlint-disable-next-line no-extend-native -- the parser calls it
  Object.defineProperty(ArrayBuffer.prototype, 'transferToFixedLength', {
    configurable: true,
    writable: true,
    value(this: ArrayBuffer, length = this.byteLength) {
      return this.slice(0, length);
    },
  });
}
