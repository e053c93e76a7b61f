import type { ParsedDocument } from '../parsed-document.js';
import { textTableBlocks } from '../tables/table-rows.js';
import { parseFields } from './csv-fields.js';

const delimiters = [',', ';', '\t', '|'];
/** The line with which Excel names the delimiter. */
const delimiterLine = /^"?sep=(.)"?\s*(?:\r\n?|\n)/i;
/** The part of a text that determines its delimiter. */
const sampleCharacters = 50_000;
const sampleRecords = 100;

/**
 * Reads a table with its headers in the first row. A line `sep=;` names the delimiter, else the first records determine it.
 * Quotation marks that do not enclose a field are characters like others.
 */
export function readCsv(source: string): ParsedDocument {
  const text = source.replace(/^\uFEFF/, '');
  const [line = '', named] = delimiterLine.exec(text) ?? [];
  const body = text.slice(line.length);
  return { blocks: textTableBlocks(parseFields(body, named ?? detectDelimiter(body))) };
}

/** The delimiter with which the most records have the same number of fields, and the most fields of those; else a comma. */
function detectDelimiter(text: string): string {
  const sample = text.slice(0, sampleCharacters);
  const ratings = delimiters.map((delimiter) => {
    const counts = new Map<number, number>();
    for (const { length } of parseFields(sample, delimiter, sampleRecords))
      if (length > 1) counts.set(length, (counts.get(length) ?? 0) + 1);
    const [fields = 1, records = 0] = [...counts].sort(([, one], [, other]) => other - one)[0] ?? [];
    return { delimiter, fields, records };
  });
  const best = ratings.reduce((one, other) => {
    const isBetter =
      other.records > one.records || (other.records === one.records && other.fields > one.fields);
    return isBetter ? other : one;
  });
  return best.delimiter;
}
