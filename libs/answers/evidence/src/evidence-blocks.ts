import { neighbourReach, type Neighbour, type RetrievedDocument } from '#platform/contracts';
import { estimateTokens } from '#platform/foundation';
import { asksForCode } from './asks-for-code.js';
import { labelOf } from './block-label.js';
import { hasRows, partsOf, placeOf } from './chunk.js';
import { proseFirst, withoutRepetitions } from './distinct-passages.js';
import { renderChunks } from './render-chunks.js';
import { Sections } from './sections.js';

/** A part of a document for a language model: chunks that follow each other in one section. */
export interface EvidenceBlock {
  /** In the order of the document. */
  readonly chunks: readonly Neighbour[];
  /** Title, headings, file, page, rows, date and address. */
  readonly label: string;
  /** Markdown. */
  readonly text: string;
}

export interface EvidenceRequest {
  /** Passages of the search, the best one first. */
  readonly found: readonly RetrievedDocument[];
  /** Passages around the found ones; absent: only the found ones are shown. */
  readonly neighbours?: readonly Neighbour[];
  readonly question: string;
  /** Limit for the estimated tokens of all blocks. */
  readonly maxTokens: number;
  /** Limit for the found passages that are shown. */
  readonly maxPassages?: number;
}

/** Sections and short documents are shown as far as the search gives their neighbours. */
const { section, sectionOfLater, document: wholeDocument } = neighbourReach;
/** Estimated tokens of a label. */
const labelTokens = 30;
/** A table is shown whole if it needs at most this share of the tokens that are left. */
const tableShare = 0.7;

/**
 * What a language model reads of a search: first the found passages, then, while tokens are left, the rest of their
 * tables, of their sections, and of short documents whose beginning was found, the best passages first. Passages that follow each other become one block. The blocks have the
 * order of their best passages.
 */
export function evidenceBlocks(request: EvidenceRequest): EvidenceBlock[] {
  const { neighbours = [], question, maxTokens, maxPassages = Infinity } = request;
  const distinct = withoutRepetitions(request.found.filter(({ text }) => text.trim() !== ''));
  const found = (asksForCode(question) ? distinct : proseFirst(distinct)).slice(0, maxPassages);
  const sections = new Sections([...neighbours, ...request.found, ...found]);
  const chosen = new Selection(maxTokens);
  const shown = chooseFound(found, chosen);
  widenTables(shown, sections, chosen);
  widenSections(shown, sections, chosen);
  widenDocuments(shown, sections, chosen);
  return toBlocks(shown, sections, chosen);
}

/** Chunks within a budget of tokens. */
class Selection {
  readonly #chunks = new Set<Neighbour>();
  #left: number;

  constructor(maxTokens: number) {
    this.#left = maxTokens;
  }

  get left(): number {
    return this.#left;
  }

  has(chunk: Neighbour): boolean {
    return this.#chunks.has(chunk);
  }

  /** Adds a chunk if it fits; returns whether it is chosen now. */
  add(chunk: Neighbour, tokens = estimateTokens(chunk.text)): boolean {
    if (this.has(chunk)) return true;
    if (tokens > this.#left) return false;
    this.#left -= tokens;
    this.#chunks.add(chunk);
    return true;
  }
}

/** The found passages that fit, in their order; the first one also where it does not fit. */
function chooseFound(found: readonly RetrievedDocument[], chosen: Selection): RetrievedDocument[] {
  const shown: RetrievedDocument[] = [];
  for (const passage of found) {
    const tokens = estimateTokens(passage.text) + labelTokens;
    if (!chosen.add(passage, shown.length === 0 ? Math.min(tokens, chosen.left) : tokens)) break;
    shown.push(passage);
  }
  return shown;
}

/** Adds the whole table of passages with several rows if it fits, otherwise the rows around them. */
function widenTables(shown: readonly RetrievedDocument[], sections: Sections, chosen: Selection): void {
  const seen = new Set<Neighbour>();
  for (const passage of shown) {
    if (!hasRows(passage) || seen.has(passage)) continue;
    const table = sections.tableOf(passage);
    for (const chunk of table) seen.add(chunk);
    const several = table.filter((chunk) => chosen.has(chunk)).flatMap(partsOf);
    if (several.filter(({ kind }) => kind === 'row').length < 2) continue;
    const missing = table.filter((chunk) => !chosen.has(chunk));
    // A table in Markdown has its header once.
    const tokens = estimateTokens(renderChunks(missing));
    const room = chosen.left * tableShare;
    if (tokens <= room) for (const chunk of missing) chosen.add(chunk, tokens / missing.length);
    else
      widen(passage, { sections, chosen, max: table.length, minLeft: chosen.left - room, passes: hasRows });
  }
}

function widenSections(shown: readonly RetrievedDocument[], sections: Sections, chosen: Selection): void {
  for (const [index, passage] of shown.entries()) {
    const max = index < section.maxRank ? section.max : sectionOfLater;
    widen(passage, {
      sections,
      chosen,
      max,
      minLeft: 0,
      passes: (chunk) => !hasRows(chunk) || hasRows(passage),
    });
  }
}

/**
 * Adds the rest of a short document after its beginning. The beginning of minutes, of a letter or of a report says what
 * it is about, when and by whom; its sections do not repeat this, so that a question for the date finds the beginning
 * alone.
 */
function widenDocuments(shown: readonly RetrievedDocument[], sections: Sections, chosen: Selection): void {
  for (const passage of shown.slice(0, wholeDocument.maxRank)) {
    if (!isBeginning(passage)) continue;
    const rest = sections.after(passage);
    if (rest.length < wholeDocument.max) for (const chunk of rest) chosen.add(chunk);
  }
}

function isBeginning(passage: Neighbour): boolean {
  return placeOf(passage)?.index === 0 && !hasRows(passage);
}

interface Widening {
  readonly sections: Sections;
  readonly chosen: Selection;
  /** Limit for the chunks on each side. */
  readonly max: number;
  /** Tokens that stay free. */
  readonly minLeft: number;
  readonly passes: (chunk: Neighbour) => boolean;
}

/** Adds the chunks after and before a passage in turns. */
function widen(passage: Neighbour, { sections, chosen, max, minLeft, passes }: Widening): void {
  const ends = new Map<1 | -1, Neighbour>([
    [1, passage],
    [-1, passage],
  ]);
  for (let distance = 1; distance <= max && ends.size > 0; distance += 1) {
    for (const [direction, end] of ends) {
      const next = sections.next(end, direction);
      const fits = next && passes(next) && chosen.left > minLeft && chosen.add(next);
      if (fits) ends.set(direction, next);
      else ends.delete(direction);
    }
  }
}

/** Joins chosen chunks that follow each other in a section. Further sections follow the beginning of their document. */
function toBlocks(
  shown: readonly RetrievedDocument[],
  sections: Sections,
  chosen: Selection,
): EvidenceBlock[] {
  const used = new Set<Neighbour>();
  const found = new Set<Neighbour>(shown);
  const blockOf = (chunk: Neighbour): EvidenceBlock[] => {
    if (used.has(chunk)) return [];
    const isStored = placeOf(chunk) !== undefined;
    const chunks = isStored ? sections.around(chunk, (each) => chosen.has(each)) : [chunk];
    for (const each of chunks) used.add(each);
    const row = chunks.find(hasRows);
    const table = row ? sections.tableOf(row) : [];
    return [{ chunks, label: labelOf(chunks, table), text: renderChunks(chunks) }];
  };
  // A later passage has a place of its own, with the chunks around it.
  const isFurther = (chunk: Neighbour) =>
    chosen.has(chunk) && !sections.around(chunk, (each) => chosen.has(each)).some((each) => found.has(each));
  return shown.flatMap((passage) => {
    const further = isBeginning(passage) ? sections.after(passage).filter(isFurther) : [];
    return [...blockOf(passage), ...further.flatMap(blockOf)];
  });
}
