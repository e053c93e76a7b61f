import type { Neighbour, RetrievedDocument } from '#contracts';
import type { AnswerBlock } from './answer-block.js';
import { tablesOf } from './passage-tables.js';
import { answerFromTables } from './tables/answer-from-tables.js';

/** Beginnings of questions that only say in which form to answer. */
const asTable =
  /^(?:please )?(?:(?:show|give|list|print|answer)(?: me)?(?: it| this)? )?(?:as|in) a table[:,]?\s+|^als tabelle[:,]?\s+/i;
/** A sentence after the question that says how to answer. */
const instruction = /(?<=[.?!])\s*(?:please )?(?:answer|reply|respond|give|antworte|nenne)\b[^.?!]*[.!]?$/i;
/** An instruction at the end of a question. */
const ending =
  /,\s*(?:(?:just|only) the (?:number|name|value)|(?:number|name|value) only|in (?:one|a single) word|nur die zahl)[.?!]?$/i;
const short = /\b(?:only|just|nothing else|one word|single word|nur|mit einem wort)\b/i;

/** A question without instructions about its form, and whether the value alone is wanted. */
function withoutForm(question: string): { asked: string; isShort: boolean } {
  const plain = question.trim().replace(asTable, '');
  const asked = plain.replace(instruction, '').replace(ending, '');
  return { asked, isShort: short.test(plain.slice(asked.length)) };
}

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
  question: string,
  documents: readonly RetrievedDocument[],
  neighbours: readonly Neighbour[] | undefined,
): FromTable | undefined {
  const tables = tablesOf(documents, neighbours);
  if (tables.length === 0) return undefined;
  const { asked, isShort } = withoutForm(question);
  const found = answerFromTables(asked, tables);
  if (!found) return undefined;
  const { rows, chunks, passage } = tables[found.table]!;
  const first = found.rows[0] ?? 0;
  const text = isShort ? found.value : found.text;
  const answer = { start: 0, end: text.split('\n')[0]!.length };
  const block = { text, answer, lead: '', quote: rows[first]!, passage, documentId: chunks[first]! };
  return { block, certainty: found.certainty, isPartial: found.isPartial };
}
