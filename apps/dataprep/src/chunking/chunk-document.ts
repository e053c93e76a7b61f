import { wholeSpan, type TimeSpan } from '#platform/contracts';
import type { ParsedDocument, DocumentBlock } from '../reading/parsed-document.js';
import { withoutContents } from './table-of-contents.js';
import { unitsOf, countWords, type TextUnit } from './text-units.js';

/** A passage of a document, ready to be embedded and stored. */
export interface DocumentChunk {
  text: string;
  words: number;
  /** Headings above it, from the outermost to the innermost. */
  headings: string[];
  /**
   * Kinds of the parts between blank lines, a letter each: p(aragraph), i(tem of a list), r(ow of a table), c(ode).
   * Absent if all parts are paragraphs.
   */
  blocks?: string;
  /** The text begins within a block that the chunk before began. */
  continues?: true;
  /** Page on which the chunk begins; paged formats only. */
  page?: number;
  /** Offsets at which further pages begin: `offset:page`, separated by spaces. Absent if the chunk lies on one page. */
  pageBreaks?: string;
  /** What its pages are called, by their numbers; only those that have another name. */
  pageLabels?: Record<string, string>;
  /** When it is said, in seconds from the beginning; recordings only. */
  time?: TimeSpan;
  /** The times of its paragraphs: `offset:start-end`, separated by spaces. Absent for a single paragraph. */
  timeBreaks?: string;
  /**
   * Where the text is in the text of a file that is itself text: `offset:offset in the file`, separated by spaces, each
   * true up to the next. Without the second number: not found. Absent without any.
   */
  places?: string;
}

/**
 * Splits a document into passages of at most `chunkSize` words. A passage never crosses a heading and ends at the end
 * of a sentence. Rows and list items stay whole if they fit. Every word occurs in order in the text or headings of at
 * least one chunk, except for those of a table of contents, which are in the headings.
 */
export function chunkDocument(
  document: Pick<ParsedDocument, 'blocks'>,
  options: ChunkingOptions,
): DocumentChunk[] {
  return sectionsOf(withoutContents(document.blocks)).flatMap(({ headings, blocks }) => {
    const units = blocks.flatMap((block) => unitsOf(block, options.chunkSize));
    return packUnits(units, options).map((packed) => toChunk(packed, headings));
  });
}

function toChunk(units: TextUnit[], headings: string[]): DocumentChunk {
  const text = units
    .map((unit, index) => (index === 0 ? '' : unit.glue) + unit.text)
    .join('')
    .trim();
  const page = units.find((unit) => unit.page !== undefined)?.page;
  const pageBreaks = pageBreaksOf(units);
  const blocks = kindsOf(units);
  const timeBreaks = timeBreaksOf(units);
  return {
    text,
    words: countWords(text),
    headings,
    ...(/[^p]/.test(blocks) && { blocks }),
    ...(units[0] && units[0].glue !== '\n\n' && { continues: true as const }),
    ...(page !== undefined && { page }),
    ...(pageBreaks && { pageBreaks }),
    ...pageLabelsOf(units),
    ...timeOf(units),
    ...(timeBreaks.includes(' ') && { timeBreaks }),
  };
}

function pageLabelsOf(units: readonly TextUnit[]): Pick<DocumentChunk, 'pageLabels'> {
  const labels = units.flatMap(({ page, pageLabel }) =>
    page === undefined || pageLabel === undefined ? [] : [[page, pageLabel]],
  );
  return labels.length === 0 ? {} : { pageLabels: Object.fromEntries(labels) as Record<string, string> };
}

function timeOf(units: readonly TextUnit[]): Pick<DocumentChunk, 'time'> {
  const time = wholeSpan(units.flatMap((unit) => unit.time ?? []));
  return time ? { time } : {};
}

function timeBreaksOf(units: readonly TextUnit[]): string {
  return placed(units)
    .flatMap(({ unit: { time }, start }, index) =>
      time && time !== units[index - 1]?.time ? [`${start}:${time.start}-${time.end}`] : [],
    )
    .join(' ');
}

function pageBreaksOf(units: readonly TextUnit[]): string {
  const breaks: string[] = [];
  let page = units[0]?.page;
  for (const { unit, start } of placed(units)) {
    if (unit.page !== undefined && unit.page !== page) breaks.push(`${start}:${unit.page}`);
    page = unit.page ?? page;
  }
  return breaks.join(' ');
}

/** The units of a chunk with the offsets of their texts in that of the chunk. */
function placed(units: readonly TextUnit[]): { unit: TextUnit; start: number }[] {
  let end = 0;
  return units.map((unit, index) => {
    const start = index === 0 ? 0 : end + unit.glue.length;
    end = start + unit.text.length;
    return { unit, start };
  });
}

const kindLetters = {
  heading: 'p',
  paragraph: 'p',
  note: 'p',
  caption: 'p',
  figure: 'p',
  'list-item': 'i',
  'form-field': 'i',
  'table-row': 'r',
  code: 'c',
} as const;

/** A letter for each part of the chunk's text between blank lines. */
function kindsOf(units: readonly TextUnit[]): string {
  return units
    .map(({ text, glue, kind }, index) => {
      const parts = text.trim().split(/\n\s*\n/).length;
      const begun = index === 0 || glue === '\n\n' ? parts : parts - 1;
      return kindLetters[kind ?? 'paragraph'].repeat(begun);
    })
    .join('');
}

/** Sizes in words. */
export interface ChunkingOptions {
  chunkSize: number;
  chunkOverlap: number;
}

/**
 * Packs the units of one section into chunks of at most `chunkSize` words with a greedy pass, then evens out the
 * lengths of these chunks, so that the last one is not much shorter. Each chunk repeats the last whole sentences of the
 * previous chunk, up to `chunkOverlap` words.
 */
function packUnits(units: TextUnit[], options: ChunkingOptions): TextUnit[][] {
  const packed = packGreedily(units, options);
  if (packed.length <= 1) return packed;
  let low = units.reduce((longest, unit) => Math.max(longest, unit.words), 1);
  let high = options.chunkSize;
  while (low < high) {
    const chunkSize = Math.floor((low + high) / 2);
    if (packGreedily(units, { ...options, chunkSize }).length <= packed.length) high = chunkSize;
    else low = chunkSize + 1;
  }
  return packGreedily(units, { ...options, chunkSize: high });
}

function packGreedily(units: TextUnit[], { chunkSize, chunkOverlap }: ChunkingOptions): TextUnit[][] {
  const chunks: TextUnit[][] = [];
  let current: TextUnit[] = [];
  let words = 0;
  for (const unit of units) {
    if (current.length > 0 && words + unit.words > chunkSize) {
      chunks.push(current);
      current = tailOf(current, Math.min(chunkOverlap, chunkSize - unit.words));
      words = current.reduce((sum, { words }) => sum + words, 0);
    }
    current.push(unit);
    words += unit.words;
  }
  return current.length > 0 ? [...chunks, current] : chunks;
}

/** The last whole units within the budget, never all of them. */
function tailOf(units: TextUnit[], maxWords: number): TextUnit[] {
  let first = units.length;
  let words = 0;
  while (first > 1) {
    const before = units[first - 1];
    if (!before?.whole || words + before.words > maxWords) break;
    words += before.words;
    first -= 1;
  }
  return units.slice(first);
}

/** The blocks between two headings, and the headings above these blocks, the outermost first. */
interface Section {
  headings: string[];
  blocks: DocumentBlock[];
}

interface OpenHeading {
  level: number;
  text: string;
  /** Whether a section below the heading has text. A heading without text below it becomes a paragraph. */
  used: boolean;
}

/** A longer heading counts as a paragraph in large print. */
const maxHeadingWords = 30;

/**
 * Groups blocks by the headings above them. A heading without text below it becomes the text of a section. A heading
 * with `ends` closes the open headings of its level and of deeper levels.
 */
function sectionsOf(blocks: DocumentBlock[]): Section[] {
  const sections: Section[] = [];
  const open: OpenHeading[] = [];
  const closeFrom = (level: number) => {
    while (open.length > 0 && (open.at(-1)?.level ?? 0) >= level) {
      const closed = open.pop();
      if (closed && !closed.used) addBlock(sections, open, { kind: 'paragraph', text: closed.text }, true);
    }
  };
  for (const block of blocks) {
    if (block.kind === 'heading' && countWords(block.text) <= maxHeadingWords) {
      const level = block.level ?? 1;
      closeFrom(level);
      if (!block.ends) open.push({ level, text: block.text, used: false });
      sections.push({ headings: pathOf(open), blocks: [] });
    } else addBlock(sections, open, { ...block, kind: block.kind === 'heading' ? 'paragraph' : block.kind });
  }
  closeFrom(0);
  return sections.filter((section) => section.blocks.length > 0);
}

/** Adds a block to the current section, or begins a section. Marks the open headings as used. */
function addBlock(
  sections: Section[],
  open: OpenHeading[],
  block: DocumentBlock,
  startsSection = false,
): void {
  const section = sections.at(-1);
  if (section && !startsSection) section.blocks.push(block);
  else sections.push({ headings: pathOf(open), blocks: [block] });
  for (const heading of open) heading.used = true;
}

function pathOf(open: OpenHeading[]): string[] {
  return open.map((heading) => heading.text);
}
