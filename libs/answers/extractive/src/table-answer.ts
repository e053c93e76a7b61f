import type { Neighbour, RetrievedDocument } from '#platform/contracts';
import type { AnswerForm } from '#answers/questions';
import type { AnswerBlock } from './answer-block.js';
import { tablesOf } from './passage-tables.js';
import { answerFromTables } from './tables/answer-from-tables.js';

/** Forms of answers that are the value alone. */
const short: ReadonlySet<AnswerForm> = new Set(['number', 'date', 'word', 'yes-no']);

/** A block with an answer from a table, and how far it can be trusted. */
export interface FromTable {
  readonly block: AnswerBlock;
  readonly certainty: number;
  readonly isPartial: boolean;
}

/**
 * Looks up or computes the answer in the tables around found passages. Undefined where the question is not about one of
 * them, or is not understood. The block cites the first row that the answer rests on.
 */
export function answerFromPassages(
  { question, form }: { question: string; form?: AnswerForm | undefined },
  documents: readonly RetrievedDocument[],
  neighbours: readonly Neighbour[] | undefined,
): FromTable | undefined {
  const tables = tablesOf(documents, neighbours);
  if (tables.length === 0) return undefined;
  const found = answerFromTables(question, tables);
  if (!found) return undefined;
  const { rows, chunks, passage } = tables[found.table]!;
  const first = found.rows[0] ?? 0;
  const text = form && short.has(form) ? found.value : found.text;
  const answer = { start: 0, end: text.split('\n')[0]!.length };
  const block = { text, answer, lead: '', quote: rows[first]!, passage, documentId: chunks[first]! };
  return { block, certainty: found.certainty, isPartial: found.isPartial };
}
