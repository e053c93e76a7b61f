import type { ParsedDocument } from '../reading/parsed-document.js';
import { packUnits, type ChunkingOptions } from './pack-units.js';
import { sectionsOf } from './sections.js';
import { unitsOf, type TextUnit } from './text-units.js';
import { countWords } from './words.js';

export type { ChunkingOptions } from './pack-units.js';

/** A passage of a document, ready to be embedded and stored. */
export interface DocumentChunk {
  text: string;
  words: number;
  /** Headings above it, from the outermost to the innermost. */
  headings: string[];
  /**
   * Kinds of the parts that blank lines part, a letter each: p(aragraph), i(tem of a list), r(ow of a table), c(ode). Absent
   * where all are paragraphs.
   */
  blocks?: string;
  /** Page that it begins on; paged formats only. */
  page?: number;
  /** Where further pages begin in the text: `offset:page`, parted by spaces. Absent where it lies on one page. */
  pageBreaks?: string;
}

/**
 * Cuts a document into passages of at most `chunkSize` words: never across a heading, at sentence borders, rows and
 * list items kept whole where they fit. Every word comes in order in at least one chunk's text or headings.
 */
export function chunkDocument(
  document: Pick<ParsedDocument, 'blocks'>,
  options: ChunkingOptions,
): DocumentChunk[] {
  return sectionsOf(document.blocks).flatMap(({ headings, blocks }) => {
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
  return {
    text,
    words: countWords(text),
    headings,
    ...(/[^p]/.test(blocks) && { blocks }),
    ...(page !== undefined && { page }),
    ...(pageBreaks && { pageBreaks }),
  };
}

function pageBreaksOf(units: readonly TextUnit[]): string {
  const breaks: string[] = [];
  let page = units[0]?.page;
  let offset = 0;
  units.forEach((unit, index) => {
    const start = index === 0 ? 0 : offset + unit.glue.length;
    if (index > 0 && unit.page !== undefined && unit.page !== page) breaks.push(`${start}:${unit.page}`);
    page = unit.page ?? page;
    offset = start + unit.text.length;
  });
  return breaks.join(' ');
}

const kindLetters = { heading: 'p', paragraph: 'p', 'list-item': 'i', 'table-row': 'r', code: 'c' } as const;

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
