import { gatherInTurns } from '#platform/foundation';
import type { RetrievedDocument } from '#platform/contracts';
import { hasRows, headingsOf, partsOf, tableOf } from '#answers/evidence';
import { type DocumentTexts } from '#answers/questions';
import { labelsOf, writeAnswer } from '#answers/extractive';
import { chooseCentral } from '../centrality.js';
import { isTelling, type EmbedTexts } from '../extractive-writer.js';
import { blockOf, embedded, placesOf, type Place, type WholeAnswer } from './places.js';

/** Sentences of a summary: one for each section, or for so many sentences, within limits. */
const perSentence = 6;
const limits = { min: 3, max: 8 };
/** First sentences of a section that may stand for it, where the sections are enough for a summary. */
const maxOfSection = 3;
/** Limits for the tables of a summary and for their rows that are shown. */
const tables = { max: 2, rows: 3 };

/**
 * The central sentences of a document in their order, from each section before a second one of any, each with its
 * heading and passage; then its tables with their columns, their number of rows and the first of these. For models that
 * quote.
 */
export async function quoteSummary(
  documents: readonly RetrievedDocument[],
  embed: EmbedTexts,
  signal: AbortSignal,
  texts: DocumentTexts,
): Promise<WholeAnswer> {
  const prose = documents.map((document) => (hasRows(document) ? withoutRows(document) : document));
  const all = await gatherInTurns(placesOf(prose), signal);
  const described = tablesIn(documents).slice(0, tables.max);
  const telling = all.filter(({ text }) => isTelling(text));
  const candidates = beginnings(telling.length > 0 || described.length > 0 ? telling : all);
  const { vectors, promptTokens } = await embedded(candidates, embed, signal);
  const sections = new Set(candidates.map(sectionOf));
  const wanted = Math.max(Math.ceil(telling.length / perSentence), sections.size);
  const count = Math.min(limits.max, Math.max(limits.min, wanted));
  const isNew = (index: number, chosen: readonly number[]) => {
    const used = new Set(chosen.map((at) => sectionOf(candidates[at]!)));
    return used.size === sections.size || !used.has(sectionOf(candidates[index]!));
  };
  const central = await chooseCentral(vectors, { count, mayFollow: isNew }, signal);
  const order = central.toSorted((one, other) => one - other);
  const labelOf = labels(candidates);
  const blocks = order.map((index) => blockOf(`- ${labelOf(candidates[index]!)}`, candidates[index]!));
  const rows = described.map((table) => tableBlock(table, texts));
  return { answer: writeAnswer('', [...blocks, ...rows], 1), promptTokens };
}

const sectionOf = ({ document: { metadata } }: Place) =>
  `${String(metadata['document_id'])} ${String(metadata['heading'])}`;

/** The first sentences of each section, if there are enough sections. */
function beginnings(places: readonly Place[]): Place[] {
  if (new Set(places.map(sectionOf)).size < limits.min) return [...places];
  const counts = new Map<string, number>();
  return places.filter((place) => {
    const section = sectionOf(place);
    counts.set(section, (counts.get(section) ?? 0) + 1);
    return counts.get(section)! <= maxOfSection;
  });
}

/** Returns the heading of a sentence that does not name it, as an answer shows it; not the title of its document. */
function labels(places: readonly Place[]): (place: Place) => string {
  const labelOf = labelsOf(places.map(({ document }) => ({ headings: headingsOf(document) })));
  return ({ document, text }) => {
    const headings = headingsOf(document);
    const label = headings.length > 1 ? labelOf(headings) : '';
    return label === '' || text.toLowerCase().includes(label.toLowerCase()) ? '' : `${label}: `;
  };
}

function withoutRows(document: RetrievedDocument): RetrievedDocument {
  const parts = partsOf(document).filter(({ kind }) => kind !== 'row');
  return { ...document, text: parts.map(({ text }) => text).join('\n\n') };
}

interface FoundTable {
  readonly rows: readonly string[];
  readonly passage: number;
  readonly document: RetrievedDocument;
}

/** The tables of passages: rows below the same headings. Chunks repeat rows of the chunk before. */
function tablesIn(documents: readonly RetrievedDocument[]): FoundTable[] {
  const found = new Map<string, { rows: Set<string>; passage: number; document: RetrievedDocument }>();
  for (const [index, document] of documents.entries()) {
    const rows = hasRows(document) ? partsOf(document).filter(({ kind }) => kind === 'row') : [];
    if (rows.length === 0) continue;
    const section = headingsOf(document).join(' > ') + String(document.metadata['document_id']);
    const table = found.get(section) ?? { rows: new Set<string>(), passage: index + 1, document };
    for (const { text } of rows) table.rows.add(text);
    found.set(section, table);
  }
  return [...found.values()].map((table) => ({ ...table, rows: [...table.rows] }));
}

/** A table with its number of rows, and the first of them. */
function tableBlock({ rows, passage, document }: FoundTable, texts: DocumentTexts) {
  const shown = rows.slice(0, tables.rows);
  const text = tableOf(shown) ?? shown.map((row) => `- ${row}`).join('\n');
  const heading = headingsOf(document).at(-1) ?? '';
  const lead = `${texts.table(heading, rows.length, shown.length)}\n\n`;
  return {
    lead,
    text,
    answer: { start: 0, end: text.length },
    quote: rows[0]!,
    passage,
    documentId: document.id,
  };
}
