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
  /** Page that it begins on; paged formats only. */
  page?: number;
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
  return { text, words: countWords(text), headings, ...(page !== undefined && { page }) };
}
