import { XmlArchive } from '../archives/archive.js';
import {
  unsupportedFile,
  type DocumentBlock,
  type ParsedDocument,
  type ReadingLimits,
  type ReadingWarning,
  type SourceFile,
} from '../parsed-document.js';
import { tableBlocks } from '../tables/table-rows.js';
import { readSheet, type SheetCells, type WorkbookParts } from './sheet-cells.js';
import { cellStyles, parseXml, sharedTexts } from './workbook-parts.js';

const workbook = 'xl/workbook.xml';

interface Sheet {
  name: string;
  relation: string;
  isHidden: boolean;
}

/**
 * Reads a workbook: each sheet becomes a heading and its rows. Numbers are as the workbook shows them. Hidden sheets, rows
 * and columns are left out, unless the sender keeps revisions.
 */
export function readXlsx(file: SourceFile, limits: ReadingLimits): ParsedDocument {
  const archive = new XmlArchive(file, limits);
  const { keepRevisions: keepsRevisions = false } = file;
  const { sheets, uses1904 } = readWorkbook(archive);
  if (!archive.hasRelations(workbook))
    throw unsupportedFile(file.filename, 'its archive has no xl/_rels/workbook.xml.rels');
  const relations = archive.relations(workbook);
  const partOf = (kind: string) => relations.find(({ type }) => type.endsWith(`/${kind}`))?.path;
  const parts: WorkbookParts = {
    texts: sharedTexts(archive, partOf('sharedStrings'), keepsRevisions),
    styles: cellStyles(archive, partOf('styles'), uses1904),
    keepsRevisions,
  };
  const pathOf = new Map(relations.map(({ id, path }) => [id, path]));
  const blocks: DocumentBlock[] = [];
  const warnings: ReadingWarning[] = [];
  let read = 0;
  for (const { name, relation, isHidden } of sheets) {
    const path = pathOf.get(relation);
    // Sheets with only a chart have no cells.
    if (path === undefined || !archive.has(path) || !path.includes('sheet')) continue;
    if (isHidden && !keepsRevisions) {
      warnings.push({ code: 'hidden_part', message: `The hidden sheet ${name} was left out.` });
      continue;
    }
    const cells = readSheet(archive.text(path), parts);
    const table = tableBlocks({ rows: cells.rows, startsWithHeaders: true });
    warnings.push(...warningsOf(name, cells, keepsRevisions));
    if (table.length === 0) continue;
    read += 1;
    blocks.push({ kind: 'heading', level: 1, text: isHidden ? `${name} [hidden]` : name });
    for (const block of table) blocks.push(block);
  }
  return { blocks, facts: { sheets: read }, ...(warnings.length > 0 && { warnings }) };
}

function readWorkbook(archive: XmlArchive): { sheets: Sheet[]; uses1904: boolean } {
  const sheets: Sheet[] = [];
  let uses1904 = false;
  parseXml(archive.text(workbook), {
    open: (name, attributes) => {
      if (name === 'workbookPr') uses1904 = /^(?:1|true|on)$/i.test(attributes['date1904'] ?? '');
      if (name !== 'sheet') return;
      const relation = Object.entries(attributes).find(([key]) => key.endsWith(':id'))?.[1] ?? '';
      const isHidden = /^(?:hidden|veryHidden)$/i.test(attributes['state'] ?? '');
      sheets.push({ name: attributes['name'] ?? '', relation, isHidden });
    },
  });
  return { sheets, uses1904 };
}

function warningsOf(sheet: string, cells: SheetCells, keepsRevisions: boolean): ReadingWarning[] {
  const { hiddenRows, hiddenColumns, emptyFormulas } = cells;
  const warnings: ReadingWarning[] = [];
  if (!keepsRevisions && hiddenRows + hiddenColumns > 0)
    warnings.push({
      code: 'hidden_part',
      message: `${hiddenRows} hidden rows and ${hiddenColumns} hidden columns of the sheet ${sheet} were left out.`,
    });
  if (emptyFormulas > 0)
    warnings.push({
      code: 'formula_without_value',
      message: `${emptyFormulas} formulas of the sheet ${sheet} have no stored value; open and save the file in a spreadsheet program.`,
    });
  return warnings;
}
