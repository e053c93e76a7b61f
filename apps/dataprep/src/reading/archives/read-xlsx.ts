import readWorkbook from 'read-excel-file/universal';
import type { DocumentBlock, ParsedDocument, ReadingLimits, SourceFile } from '../parsed-document.js';
import { tableRows } from '../table-rows.js';
import { checkUnpackedSize } from './zip-directory.js';

/** A workbook: each sheet is a heading and its rows, with headers in the first row. */
export async function readXlsx(
  { bytes, filename }: SourceFile,
  { maxUnpackedBytes }: ReadingLimits,
): Promise<ParsedDocument> {
  checkUnpackedSize(bytes, filename, maxUnpackedBytes);
  const sheets = await readWorkbook(new Uint8Array(bytes).buffer);
  const blocks = sheets.flatMap(({ sheet, data }): DocumentBlock[] => {
    const [headers = [], ...rows] = data.map((row) => row.map(cellText));
    const table = tableRows(headers, rows);
    return table.length > 0 ? [{ kind: 'heading', level: 1, text: sheet }, ...table] : [];
  });
  return { blocks };
}

function cellText(value: unknown): string {
  if (value === null || value === undefined) return '';
  // Days have no time, and times of workbooks no zone.
  if (value instanceof Date) return value.toISOString().replace(/T00:00:00\.000Z$|\.000Z$/, '');
  return typeof value === 'string' ? value : JSON.stringify(value);
}
