import {
  maxNeighbourWords,
  neighbourReach,
  type Neighbour,
  type RetrievedDocument,
} from '#platform/contracts';
import {
  continuesBlock,
  hasRows,
  headingsOf,
  partsOf,
  placeOf,
  repeatedParts,
  Sections,
} from '#answers/evidence';
import type { TableSource } from './tables/cells/table.js';

/** Limit for the tokens of the passages around the found ones, which a reader of sentences gets. */
export const tokensOfReader = 12_000;
/** Share of the limit from which some passages may be missing. */
const nearLimit = 0.95;

/** A table around a found passage. */
export interface PassageTable extends TableSource {
  /** Number of the found passage, from 1. */
  readonly passage: number;
  /** For each row, the id of its chunk. */
  readonly chunks: readonly string[];
}

/** The tables around found passages in the order of these passages, each once. */
export function tablesOf(
  documents: readonly RetrievedDocument[],
  neighbours: readonly Neighbour[] | undefined,
): PassageTable[] {
  const sections = new Sections([...(neighbours ?? []), ...documents]);
  const seen = new Set<string>();
  const areAllKnown =
    neighbours !== undefined && wordsOf(neighbours) < nearLimit * maxNeighbourWords(tokensOfReader);
  return documents.flatMap((document, index) => {
    if (!hasRows(document) || seen.has(document.id)) return [];
    const chunks = sections.tableOf(document);
    for (const { id } of chunks) seen.add(id);
    const isWhole =
      areAllKnown && placeOf(document) !== undefined && chunks.length <= neighbourReach.table.max;
    const { filename } = document.metadata;
    const name = typeof filename === 'string' ? filename.replace(/\.[^.\s]{1,5}$/, '') : '';
    const about = [...headingsOf(document), name].join(' ');
    return runsOf(chunks).map((run) => ({
      rows: run.map(({ text }) => text),
      chunks: run.map(({ chunk }) => chunk),
      about,
      isWhole,
      passage: index + 1,
    }));
  });
}

const wordsOf = (chunks: readonly Neighbour[]) =>
  chunks.reduce((sum, { text }) => sum + text.split(/\s+/).length, 0);

interface RowOfChunk {
  readonly text: string;
  readonly chunk: string;
}

/** The rows of chunks as tables: text between rows, and other headers, end a table. */
function runsOf(chunks: readonly Neighbour[]): RowOfChunk[][] {
  const runs: RowOfChunk[][] = [];
  let isOpen = false;
  for (const [index, chunk] of withoutOverlap(chunks).entries()) {
    for (const [at, { kind, text }] of chunk.parts.entries()) {
      const run = runs.at(-1);
      const before = isOpen ? run?.at(-1) : undefined;
      isOpen = kind === 'row';
      if (kind !== 'row') continue;
      // A row that is longer than a chunk goes on in the next one.
      if (before && index > 0 && at === 0 && chunk.continues)
        run![run!.length - 1] = { ...before, text: `${before.text} ${text}` };
      else if (before && haveSameHeaders(before.text, text)) run!.push({ text, chunk: chunk.id });
      else runs.push([{ text, chunk: chunk.id }]);
    }
  }
  return runs;
}

interface PartsOfChunk {
  readonly id: string;
  readonly parts: ReturnType<typeof partsOf>;
  readonly continues: boolean;
}

/** The parts of chunks without the rows that each chunk repeats of the one before it. */
function withoutOverlap(chunks: readonly Neighbour[]): PartsOfChunk[] {
  const parts = chunks.map((chunk) => partsOf(chunk));
  const repeated = parts.map((own, index) =>
    index === 0 ? 0 : repeatedParts(parts[index - 1]!, own.slice(0, -1)),
  );
  // Rows may be equal by chance; the ingestion repeats rows in each chunk.
  const isOverlap = repeated.length > 1 && repeated.slice(1).every((count) => count > 0);
  return chunks.map((chunk, index) => ({
    id: chunk.id,
    parts: isOverlap ? parts[index]!.slice(repeated[index]) : parts[index]!,
    continues: continuesBlock(chunk),
  }));
}

const headers = (row: string) => row.split('; ').flatMap((part) => /^([^:]{1,80}): /.exec(part)?.[1] ?? []);

/** Whether two rows may be of one table: a header in common, or none in both. */
function haveSameHeaders(one: string, two: string): boolean {
  const [left, right] = [headers(one), headers(two)];
  if (left.length === 0 || right.length === 0) return left.length === right.length;
  return left.some((header) => right.includes(header));
}
