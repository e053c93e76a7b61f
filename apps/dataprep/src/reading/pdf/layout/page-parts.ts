import type { DocumentBlock } from '../../parsed-document.js';
import type { PageTable } from './upright.js';

/** A block with the size of its letters. */
export interface SizedBlock extends DocumentBlock {
  size: number;
}

/** A table with the page on which it begins. */
export interface LocatedTable {
  table: PageTable;
  page: number;
  /** First rows of the parts on further pages, and these pages. */
  breaks?: [row: number, page: number][];
}
