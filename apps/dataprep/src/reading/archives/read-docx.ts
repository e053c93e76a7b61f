import mammoth from 'mammoth';
import { readHtml } from '../read-html.js';
import { checkUnpackedSize } from './zip-directory.js';
import type { ParsedDocument, ReadingLimits } from '../parsed-document.js';

/** What the converter adds behind a note to lead back to its reference. */
const backLink = /<a href="#(?:foot|end)note-ref-[^"]*">↑<\/a>/g;

/** A Word document by way of HTML: headings, lists and tables keep their structure; pictures are left out. */
export async function readDocx(
  bytes: Uint8Array,
  filename: string,
  limits: ReadingLimits,
): Promise<ParsedDocument> {
  checkUnpackedSize(bytes, filename, limits.maxUnpackedBytes);
  const { value } = await mammoth.convertToHtml(
    { buffer: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength) },
    {
      externalFileAccess: false,
      styleMap: ["p[style-name='Title'] => h1:fresh", "p[style-name='Subtitle'] => p:fresh"],
      convertImage: mammoth.images.imgElement(() => Promise.resolve({ src: '' })),
    },
  );
  return readHtml(value.replaceAll(backLink, ''));
}
