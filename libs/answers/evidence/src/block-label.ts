import {
  isAttached,
  labelOfPage,
  timeOfQuote,
  timeText,
  wholeSpan,
  type Neighbour,
} from '#platform/contracts';
import { headingsOf, partsOf } from './chunk.js';

/** Names of metadata with the date of a document, the best one first. */
const dateNames = ['date', 'published', 'published_at', 'updated', 'updated_at', 'modified', 'created'];
const maxCharacters = 300;

/** The rows of a table that a block has: the first and last of `total`, from 1. */
interface RowRange {
  readonly first: number;
  readonly last: number;
  readonly total: number;
}

/** What a reader has to know about a block: `Handbook › Vacation (handbook.pdf, page 3, 2025-06-01)`. */
export function labelOf(chunks: readonly Neighbour[], table: readonly Neighbour[] = []): string {
  const [first] = chunks;
  if (!first) return '';
  const { filename } = first.metadata;
  const file = typeof filename === 'string' ? oneLine(filename) : '';
  const name = isAttached(first) && file !== '' ? `attached file ${file}` : file;
  const path = headingsOf(first).map(oneLine).join(' › ');
  const details = [
    path === '' ? '' : name,
    pagesOf(chunks),
    timesOf(chunks),
    rowsOf(chunks, table),
    dateOf(first),
    linkOf(first),
  ].filter(Boolean);
  const subject = path === '' ? name : path;
  return details.length === 0 ? subject : `${subject} (${details.join(', ')})`.trimStart();
}

/** A name of a document must not look like a further line of the prompt. */
function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim().slice(0, maxCharacters);
}

function pagesOf(chunks: readonly Neighbour[]): string {
  const pages = chunks.flatMap(({ metadata: { page, page_breaks: breaks } }) => {
    if (typeof page !== 'number') return [];
    const further =
      typeof breaks === 'string' ? breaks.split(' ').map((pair) => Number(pair.split(':')[1])) : [];
    return [page, ...further];
  });
  if (pages.length === 0) return '';
  const [first, last] = [Math.min(...pages), Math.max(...pages)];
  const name = (page: number) =>
    chunks.map((chunk) => labelOfPage(chunk, page)).find((label) => label !== undefined) ?? page;
  return first === last ? `page ${name(first)}` : `pages ${name(first)}–${name(last)}`;
}

function timesOf(chunks: readonly Neighbour[]): string {
  const time = wholeSpan(chunks.flatMap((chunk) => timeOfQuote(chunk, '') ?? []));
  return time ? timeText(time) : '';
}

/** The rows of a block, where its table has more. */
function rowsOf(chunks: readonly Neighbour[], table: readonly Neighbour[]): string {
  const range = rowRange(chunks, table);
  if (!range || range.last - range.first + 1 >= range.total) return '';
  return `rows ${range.first}–${range.last} of ${range.total}`;
}

function rowRange(chunks: readonly Neighbour[], table: readonly Neighbour[]): RowRange | undefined {
  const shown = new Set(chunks.map(({ id }) => id));
  let total = 0;
  let first = 0;
  let last = 0;
  for (const chunk of table) {
    const rows = partsOf(chunk).filter(({ kind }) => kind === 'row').length;
    if (shown.has(chunk.id)) {
      if (first === 0) first = total + 1;
      last = total + rows;
    }
    total += rows;
  }
  return first === 0 ? undefined : { first, last, total };
}

function dateOf({ metadata }: Neighbour): string {
  const dates = dateNames.map((name) => metadata[name]);
  const date = dates.find((value) => typeof value === 'string' && /\d{4}/.test(value)) as string | undefined;
  return date === undefined ? '' : oneLine(date).slice(0, 40);
}

function linkOf({ metadata }: Neighbour): string {
  const { source } = metadata;
  return typeof source === 'string' && /^https?:/i.test(source) ? oneLine(source) : '';
}
