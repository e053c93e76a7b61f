import { isText } from './decode-text.js';
import { unpackFiles, zipEntryNames } from './archives/archive.js';
import { isTar } from './archives/read-tar.js';
import { isMedia } from './media/media-type.js';
import { unsupportedFile, type SourceFile } from './parsed-document.js';

export type DocumentType =
  | 'text'
  | 'markdown'
  | 'html'
  | 'json'
  | 'json-lines'
  | 'csv'
  | 'pdf'
  | 'docx'
  | 'xlsx'
  | 'pptx'
  | 'odt'
  | 'epub'
  | 'rtf'
  | 'eml'
  | 'mbox'
  | 'srt'
  | 'notebook'
  | 'org'
  | 'rst'
  | 'adoc'
  | 'tex'
  | 'archive'
  | 'picture'
  | 'media';

/** Supported types, for the error of an unsupported file. */
export const supportedTypes =
  'any text, md, html, json, jsonl, csv, tsv, pdf, docx, xlsx, pptx, odt, epub, rtf, eml, mbox, mhtml, srt, vtt, ipynb, org, rst, adoc, tex, zip, tar, gz, png, jpeg, webp, tiff, mp3, wav, flac, ogg, webm, mp4, m4a';

const typesByExtension: Record<string, DocumentType> = {
  md: 'markdown',
  markdown: 'markdown',
  mdx: 'markdown',
  html: 'html',
  htm: 'html',
  xhtml: 'html',
  json: 'json',
  geojson: 'json',
  jsonl: 'json-lines',
  ndjson: 'json-lines',
  csv: 'csv',
  tsv: 'csv',
  pdf: 'pdf',
  docx: 'docx',
  xlsx: 'xlsx',
  pptx: 'pptx',
  odt: 'odt',
  epub: 'epub',
  rtf: 'rtf',
  eml: 'eml',
  mht: 'eml',
  mhtml: 'eml',
  mbox: 'mbox',
  srt: 'srt',
  vtt: 'srt',
  ipynb: 'notebook',
  org: 'org',
  rst: 'rst',
  rest: 'rst',
  adoc: 'adoc',
  asciidoc: 'adoc',
  tex: 'tex',
  latex: 'tex',
  ltx: 'tex',
  png: 'picture',
  jpg: 'picture',
  jpeg: 'picture',
  webp: 'picture',
  tif: 'picture',
  tiff: 'picture',
  ...Object.fromEntries(
    'mp3 wav flac ogg oga opus webm mkv mp4 m4a m4v mov aac'
      .split(' ')
      .map((extension) => [extension, 'media' as const]),
  ),
};

/** Types that are recognized by the signature of their content. */
const signedTypes: ReadonlySet<DocumentType> = new Set([
  'pdf',
  'docx',
  'xlsx',
  'pptx',
  'odt',
  'epub',
  'rtf',
  'picture',
  'media',
]);

/** Extensions of files that are read as plain text. */
const textExtensions = new Set(
  (
    'txt text log yaml yml toml ini cfg conf env xml sql sh ' +
    'js mjs cjs ts tsx jsx py java kt go rs c h cc cpp hpp cs rb php swift scala lua r'
  ).split(' '),
);

const typesByMime: Record<string, DocumentType> = {
  'text/markdown': 'markdown',
  'text/html': 'html',
  'application/xhtml+xml': 'html',
  'application/json': 'json',
  'message/rfc822': 'eml',
  'multipart/related': 'eml',
  'application/mbox': 'mbox',
  'application/x-subrip': 'srt',
  'text/srt': 'srt',
  'text/vtt': 'srt',
  'application/x-ipynb+json': 'notebook',
  'application/x-ndjson': 'json-lines',
  'application/jsonl': 'json-lines',
  'text/org': 'org',
  'text/x-org': 'org',
  'text/x-rst': 'rst',
  'text/prs.fallenstein.rst': 'rst',
  'text/asciidoc': 'adoc',
  'application/x-tex': 'tex',
  'application/x-latex': 'tex',
  'text/x-tex': 'tex',
  'text/csv': 'csv',
  'text/tab-separated-values': 'csv',
};

const pictureSignature = /^(?:\x89PNG|\xff\xd8\xff|II\*\0|MM\0\*|RIFF[^]{4}WEBP)/;

const foreignSignatures: [signature: string, name: string][] = [
  ['GIF8', 'a GIF image'],
  ['7z\xbc\xaf', 'a 7-Zip archive'],
  ['Rar!', 'a RAR archive'],
  ['\x7fELF', 'a program'],
  ['\xd0\xcf\x11\xe0', 'an old Office file (save it as docx, xlsx or pptx)'],
  ['RIFF', 'an AVI video, or another file of its kind'],
  ['SQLite format 3', 'a database'],
];

/**
 * Detects the type of a file from the signature of its content, then its extension, then the sender's MIME type.
 * Throws `unsupported_file` if the file has no supported type. The error names the actual type if it is known.
 */
export function detectType(file: SourceFile): DocumentType {
  if (file.bytes.length === 0) throw unsupportedFile(file.filename, 'it is empty');
  return typeBySignature(file) ?? typeByName(file);
}

/** `a/b.TAR.gz` → `gz`, `https://a.org/b.md?c` → `md`; an empty string for a name without a dot. */
function extensionOf(filename: string): string {
  const path = URL.canParse(filename) ? new URL(filename).pathname : filename;
  return /\.([^./\\]+)$/.exec(path)?.[1]?.toLowerCase() ?? '';
}

function typeBySignature({ bytes, filename }: SourceFile): DocumentType | undefined {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 1024)).toString('latin1');
  // Archives first: the beginning of a file within them may look like another type.
  if (head.startsWith('PK\x03\x04')) return typeOfZip(bytes, filename);
  if (head.startsWith('\x1f\x8b') || isTar(bytes)) return 'archive';
  if (head.includes('%PDF-')) return 'pdf';
  if (head.startsWith('{\\rtf')) return 'rtf';
  if (pictureSignature.test(head)) return 'picture';
  if (isMedia(bytes)) return 'media';
  const foreign = foreignSignatures.find(([signature]) => head.startsWith(signature));
  if (foreign) throw unsupportedFile(filename, `it is ${foreign[1]}. Supported: ${supportedTypes}`);
  if (/^(\xef\xbb\xbf)?\s*(<!--[^]*?-->\s*)?<(!doctype\s+html|html[\s>])/i.test(head)) return 'html';
  return undefined;
}

/** Types of archives by a path that every archive of the type contains. */
const packedTypes: [prefix: string, type: DocumentType][] = [
  ['word/document', 'docx'],
  ['xl/workbook.xml', 'xlsx'],
  ['ppt/presentation.xml', 'pptx'],
  ['META-INF/container.xml', 'epub'],
];

const isTypeFile = (name: string) => name === 'mimetype';

function typeOfOpenDocument(bytes: Uint8Array, filename: string): DocumentType {
  const type = unpackFiles(bytes, filename, { maxBytes: 1_000, isWanted: isTypeFile }).get('mimetype');
  if (/opendocument\.text/.test(Buffer.from(type ?? []).toString())) return 'odt';
  throw unsupportedFile(filename, `it is an OpenDocument file without text. Supported: ${supportedTypes}`);
}

/** Names of files that are zip archives of one document. */
const officeNames = /\.(?:docx|xlsx|pptx|odt|epub)$/i;

function typeOfZip(bytes: Uint8Array, filename: string): DocumentType {
  const names = zipEntryNames(bytes, filename);
  const found = packedTypes.find(([prefix]) => names.some((name) => name.startsWith(prefix)));
  if (found) return found[1];
  if (names.includes('content.xml') && names.includes('mimetype')) return typeOfOpenDocument(bytes, filename);
  if (officeNames.test(filename))
    throw unsupportedFile(filename, 'its name says Office, its content is another zip archive');
  return 'archive';
}

function typeByName({ bytes, filename, mimeType, fromWeb }: SourceFile): DocumentType {
  const extension = extensionOf(filename);
  const mime = mimeType.split(';')[0]?.trim().toLowerCase() ?? '';
  const named = typesByExtension[extension] ?? (textExtensions.has(extension) ? 'text' : undefined);
  const type = fromWeb ? (typesByMime[mime] ?? named) : (named ?? typesByMime[mime]);
  if (type && signedTypes.has(type)) {
    throw unsupportedFile(filename, `its name says ${extension}, its content does not`);
  }
  if (type) return type;
  if (mime.startsWith('text/') || extension === '' || isText(bytes)) return 'text';
  throw unsupportedFile(filename, `its type .${extension} is unknown. Supported: ${supportedTypes}`);
}
