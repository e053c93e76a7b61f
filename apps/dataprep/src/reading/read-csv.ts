import { parse } from 'csv-parse/sync';
import { type ParsedDocument } from './parsed-document.js';
import { textTableBlocks } from './tables/table-rows.js';

const delimiters = [',', ';', '\t', '|'];

/** Reads a table with its headers in the first row. The first lines determine the delimiter. */
export function readCsv(source: string): ParsedDocument {
  const rows = parse(source, {
    bom: true,
    delimiter: detectDelimiter(source),
    relax_column_count: true,
    relax_quotes: true,
    skip_empty_lines: true,
    trim: true,
  });
  return { blocks: textTableBlocks(rows) };
}

/**
 * The delimiter that gives the most fields and the same number in each of the first lines; a comma if there is none.
 */
function detectDelimiter(source: string): string {
  const lines = source
    .slice(0, 20_000)
    .split(/\r?\n/)
    .filter((line) => line.trim())
    .slice(0, 10)
    .map((line) => line.replaceAll(/"[^"]*"/g, ''));
  const fields = (delimiter: string) => Math.min(...lines.map((line) => line.split(delimiter).length));
  return delimiters.reduce((best, next) => (fields(next) > fields(best) ? next : best));
}
