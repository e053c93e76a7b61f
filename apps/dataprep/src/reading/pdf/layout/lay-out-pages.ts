import type { DocumentBlock } from '../../parsed-document.js';
import { withNotes } from './form-fields.js';
import { blocksOfLines } from './page-blocks.js';
import type { PageContent } from '../content/page-content.js';
import { readRegion } from './regions.js';
import { withRuledTables } from './ruled-tables.js';
import { withoutRunningLines } from './running-lines.js';
import { uprightLayers } from './upright.js';

/** Builds blocks from the contents of all pages, without headers, footers and page numbers. */
export function layOutPages(contents: readonly PageContent[]): DocumentBlock[] {
  const layers = contents.map(({ words, rulings }) => uprightLayers(words, rulings));
  const { pages } = withoutRunningLines(layers.map(([main]) => main?.words ?? []));
  const lines = layers.map(([first, ...others], index) => {
    const main = { words: pages[index]!, rulings: first?.rulings ?? [], angle: first?.angle ?? 0 };
    const words = withNotes(main, contents[index]!.notes);
    return [
      ...readRegion(withRuledTables({ ...main, words })),
      ...others.flatMap((layer) => readRegion(layer.words)),
    ];
  });
  return blocksOfLines(lines);
}
