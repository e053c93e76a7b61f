import { decodeText } from './decode-text.js';
import { detectType, type DocumentType } from './detect-type.js';
import { readFolder } from './archives/read-folder.js';
import { readOdt } from './archives/read-odt.js';
import { readEpub, readPptx } from './archives/read-office.js';
import { readEml, readMbox } from './mail/read-eml.js';
import { readHtml } from './read-html.js';
import { readAdoc } from './markup/read-adoc.js';
import { readOrg } from './markup/read-org.js';
import { readRst } from './markup/read-rst.js';
import { readTex } from './markup/read-tex.js';
import { readJson, readJsonLines } from './read-json.js';
import { readMarkdown } from './read-markdown.js';
import { readPdf } from './pdf/read-pdf.js';
import { readPicture } from './pictures/read-picture.js';
import { readPlainText } from './read-plain-text.js';
import { readRtf } from './read-rtf.js';
import { readSrt } from './read-srt.js';
import { readNotebook } from './text-formats/read-notebook.js';
import { readCsv } from './sheets/read-csv.js';
import { readXlsx } from './sheets/read-xlsx.js';
import { readDocx } from './word/read-docx.js';
import {
  type DocumentBlock,
  readingAs,
  unsupportedFile,
  defaultReadingLimits,
  type ParsedDocument,
  type PartReader,
  type ReadingFacts,
  type ReadingLimits,
  type ReadingOptions,
  type SourceFile,
} from './parsed-document.js';

type FileReader = (
  file: SourceFile,
  limits: ReadingLimits,
  readPart: PartReader,
) => ParsedDocument | Promise<ParsedDocument>;

/** Limit for files within files. */
const maxDepth = 3;

const fileReaders: Partial<Record<DocumentType, FileReader>> = {
  pdf: readPdf,
  docx: readDocx,
  xlsx: readXlsx,
  pptx: readPptx,
  odt: readOdt,
  epub: readEpub,
  eml: readEml,
  mbox: readMbox,
  rtf: readRtf,
  picture: readPicture,
  archive: readFolder,
  media: refuseMedia,
};

/** The asr service transcribes recordings; a reader process cannot call it. */
function refuseMedia({ filename }: SourceFile): never {
  throw unsupportedFile(filename, 'it is audio or video within another file; send it as a file of its own');
}

type TextReader = (text: string, options: ReadingOptions) => ParsedDocument;

const textReaders: Partial<Record<DocumentType, TextReader>> = {
  text: readPlainText,
  markdown: readMarkdown,
  html: readHtml,
  json: readJson,
  'json-lines': readJsonLines,
  csv: readCsv,
  srt: readSrt,
  notebook: readNotebook,
  org: readOrg,
  rst: readRst,
  adoc: readAdoc,
  tex: readTex,
};

/** Reads a file of any supported type. Throws `unsupported_file`, which names the file and the reason. */
export async function readDocument(
  file: SourceFile,
  limits: ReadingLimits = defaultReadingLimits,
  depth = 0,
): Promise<ParsedDocument> {
  if (depth > maxDepth) throw unsupportedFile(file.filename, 'it is nested too deeply');
  const type = detectType(file);
  const document = await readingAs(file.filename, type, () =>
    readAs(type, file, { limits, readPart: (part) => readDocument(part, limits, depth + 1) }),
  );
  const blocks = document.blocks.filter(
    (block) => block.ends || /[\p{L}\p{N}\p{Extended_Pictographic}]/u.test(block.text),
  );
  const characters = blocks.reduce((sum, block) => sum + block.text.length, 0);
  if (characters > limits.maxCharacters)
    throw unsupportedFile(file.filename, `it has more than ${limits.maxCharacters} characters of text`);
  if (blocks.length === 0) throw unsupportedFile(file.filename, 'it holds no text');
  return withShortHeadings({ ...document, blocks, facts: factsOf(document, blocks) });
}

/** What the blocks show, and what the reader knows. */
function factsOf({ facts }: ParsedDocument, blocks: readonly DocumentBlock[]): ReadingFacts {
  const pages = new Set(blocks.flatMap(({ page }) => page ?? [])).size;
  const tables = blocks.filter(({ startsTable }) => startsTable).length;
  return { ...(pages > 0 && { pages }), ...(tables > 0 && { tables }), ...facts };
}

/** Limit for the characters of a title and of a heading: both are stored with each passage. */
const maxHeadingCharacters = 300;

/** Cuts a long title. A long heading is a paragraph, so that its text is stored once. */
function withShortHeadings({ title, blocks, ...facts }: ParsedDocument): ParsedDocument {
  return {
    ...facts,
    ...(title !== undefined && { title: shorten(title) }),
    blocks: blocks.map((block) => (isLongHeading(block) ? asParagraph(block) : block)),
  };
}

function isLongHeading({ kind, text }: DocumentBlock): boolean {
  return kind === 'heading' && text.length > maxHeadingCharacters;
}

function asParagraph({ level: _level, ends: _ends, ...block }: DocumentBlock): DocumentBlock {
  return { ...block, kind: 'paragraph' };
}

function shorten(title: string): string {
  return title.length <= maxHeadingCharacters
    ? title
    : `${title.slice(0, maxHeadingCharacters - 1).trimEnd()}…`;
}

function readAs(
  type: DocumentType,
  file: SourceFile,
  { limits, readPart }: { limits: ReadingLimits; readPart: PartReader },
): ParsedDocument | Promise<ParsedDocument> {
  const readFile = fileReaders[type];
  if (readFile) return readFile(file, limits, readPart);
  const { text, encoding, confidence, warnings } = decodeText(file);
  const document = textReaders[type]?.(text, file) ?? readPlainText(text);
  return {
    ...document,
    text,
    ...(confidence !== undefined && { assumedEncoding: encoding }),
    facts: {
      ...document.facts,
      encoding,
      ...(confidence !== undefined && { encodingConfidence: confidence }),
    },
    warnings: [...warnings, ...(document.warnings ?? [])],
  };
}
