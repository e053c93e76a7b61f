import { decodeText } from './decode-text.js';
import { detectType, type DocumentType } from './detect-type.js';
import { readCsv } from './read-csv.js';
import { readDocx } from './archives/read-docx.js';
import { readEml } from './read-eml.js';
import { readEpub } from './archives/read-epub.js';
import { readHtml } from './read-html.js';
import { readJson, readJsonLines } from './read-json.js';
import { readMarkdown } from './read-markdown.js';
import { readOdt } from './archives/read-odt.js';
import { readPdf } from './pdf/read-pdf.js';
import { readPlainText } from './read-plain-text.js';
import { readPptx } from './archives/read-pptx.js';
import { readRtf } from './read-rtf.js';
import { readSrt } from './read-srt.js';
import { readXlsx } from './archives/read-xlsx.js';
import { readingAs, unsupportedFile } from './unsupported-file.js';
import {
  defaultReadingLimits,
  type ParsedDocument,
  type ReadingLimits,
  type SourceFile,
} from './parsed-document.js';

const textReaders: Partial<Record<DocumentType, (text: string) => ParsedDocument>> = {
  text: readPlainText,
  markdown: readMarkdown,
  html: readHtml,
  json: readJson,
  'json-lines': readJsonLines,
  csv: readCsv,
  srt: readSrt,
};

/** Reads a file of any supported type. Throws `unsupported_file` that names the file and the reason. */
export async function readDocument(
  file: SourceFile,
  limits: ReadingLimits = defaultReadingLimits,
): Promise<ParsedDocument> {
  const type = detectType(file);
  const document = await readingAs(file.filename, type, () => readAs(type, file, limits));
  const blocks = document.blocks.filter(
    (block) => block.ends || /[\p{L}\p{N}\p{Extended_Pictographic}]/u.test(block.text),
  );
  const characters = blocks.reduce((sum, block) => sum + block.text.length, 0);
  if (characters > limits.maxCharacters)
    throw unsupportedFile(file.filename, `it has more than ${limits.maxCharacters} characters of text`);
  if (blocks.length === 0) throw unsupportedFile(file.filename, 'it holds no text');
  return { ...document, blocks };
}

function readAs(
  type: DocumentType,
  file: SourceFile,
  limits: ReadingLimits,
): ParsedDocument | Promise<ParsedDocument> {
  if (type === 'pdf') return readPdf(file.bytes, file.filename, limits);
  if (type === 'docx') return readDocx(file.bytes, file.filename, limits);
  if (type === 'xlsx') return readXlsx(file, limits);
  if (type === 'pptx') return readPptx(file, limits);
  if (type === 'odt') return readOdt(file, limits);
  if (type === 'epub') return readEpub(file, limits);
  if (type === 'eml') return readEml(file);
  if (type === 'rtf') return readRtf(file.bytes, file.filename);
  const { text, assumedEncoding } = decodeText(file);
  const document = textReaders[type]?.(text) ?? readPlainText(text);
  return { ...document, ...(assumedEncoding && { assumedEncoding }) };
}
