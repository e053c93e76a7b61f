import {
  tidyLines,
  type DocumentBlock,
  type ParsedDocument,
  type ReadingOptions,
} from '../parsed-document.js';
import { readMarkdown } from '../read-markdown.js';

/** A text of a notebook: a list of its lines, or the whole text. */
type Lines = string | string[];

interface Notebook {
  cells?: {
    cell_type?: string;
    source?: Lines;
    outputs?: { text?: Lines; data?: Record<string, Lines> }[];
  }[];
}

const textOf = (lines: Lines = '') => (Array.isArray(lines) ? lines.join('') : lines);

/** Reads a Jupyter notebook: its texts as Markdown, its programs and their printed results as code, without pictures. */
export function readNotebook(source: string, options: ReadingOptions = {}): ParsedDocument {
  const { cells } = JSON.parse(source.replace(/^\uFEFF/, '')) as Notebook;
  if (!Array.isArray(cells)) throw new Error('it has no cells');
  let pictures = 0;
  const blocks = cells.flatMap(({ cell_type, source: lines, outputs = [] }): DocumentBlock[] => {
    if (cell_type === 'markdown') return readMarkdown(textOf(lines), options).blocks;
    pictures += outputs.filter(({ data = {} }) =>
      Object.keys(data).some((type) => type.startsWith('image/')),
    ).length;
    const printed = outputs.map(({ text, data }) => textOf(text ?? data?.['text/plain']));
    return [textOf(lines), ...printed]
      .map((text): DocumentBlock => ({ kind: 'code', text: tidyLines(text) }))
      .filter(({ text }) => text !== '');
  });
  const title = blocks.find(({ level }) => level === 1)?.text;
  const message = `Pictures of results that were not read: ${pictures}.`;
  return {
    ...(title !== undefined && { title }),
    blocks,
    ...(pictures > 0 && { facts: { pictures }, warnings: [{ code: 'picture_skipped', message }] }),
  };
}
