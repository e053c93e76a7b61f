import { maxSearchQueries, type ReplyOf, type writeSearchQueries } from '#platform/contracts';

/** Characters of a query. A longer line is not a query. */
const maxQueryCharacters = 500;

type Read = Pick<ReplyOf<typeof writeSearchQueries>, 'queries' | 'problem'>;

/**
 * Reads the search queries in the answer of a model: a JSON list of strings or objects with a query, an object with such
 * a list, or one query a line with bullets, numbers, labels and quotes around it. `[]` and `NONE` are an empty list.
 * Reasoning and code fences are left out. `isCut`: the answer ends in the middle of a query.
 */
export function readQueries(answer: string, isCut = false): Read {
  const text = withoutReasoning(answer).trim();
  if (text === '') return { queries: [], problem: isCut ? 'too_long' : 'empty' };
  const found = ofJson(text, isCut) ?? ofLines(text, isCut);
  if (found === 'none') return { queries: [] };
  const queries = distinct(found.map(clean)).filter(isQuery).slice(0, maxSearchQueries);
  return queries.length > 0 ? { queries } : { queries, problem: isCut ? 'too_long' : 'empty' };
}

/** An engine without a parser leaves the reasoning in the text, sometimes without its first mark, or unfinished. */
function withoutReasoning(answer: string): string {
  return answer.replace(/^[\s\S]*<\/think(?:ing)?>/i, '').replace(/<think(?:ing)?>[\s\S]*$/i, '');
}

/**
 * The strings of the first JSON list, which may be cut or have single quotes, or of an object with a query; undefined
 * without them.
 */
function ofJson(text: string, isCut: boolean): string[] | 'none' | undefined {
  const begin = /\[\s*(?:["'{\]]|$)/.exec(text)?.index ?? -1;
  if (begin === -1) return text.startsWith('{') ? stringOf(parse(text)) : undefined;
  const end = text.lastIndexOf(']');
  const list = text.slice(begin, end > begin ? end + 1 : undefined);
  const parsed = parse(list);
  if (Array.isArray(parsed)) return parsed.length === 0 ? 'none' : parsed.flatMap(stringOf);
  if (isCut && end < begin)
    return [...list.matchAll(/"(?:[^"\\\n]|\\.)*"(?!\s*:)/g)].flatMap(([it]) => stringOf(parse(it)));
  return list
    .slice(1)
    .replace(/\]$/, '')
    .split(/(?<=["'])\s*,\s*(?=["'])/);
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json) as unknown;
  } catch {
    return undefined;
  }
}

/** A string, or the first string of an object. */
function stringOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value)
    .filter((each) => typeof each === 'string')
    .slice(0, 1);
}

/** `none`, `no queries needed`, `keine`: that nothing is to be searched for. */
const nothing = /^\W*(?:none|null|nothing|n\/?a|no (?:search )?quer(?:y|ies)\b.*|no search\b.*|keine)\W*$/i;

function ofLines(text: string, isCut: boolean): string[] | 'none' {
  const all = text.split('\n').map((line) => line.trim());
  const lines = all.filter((line) => line !== '' && !/^(?:`{3}|~{3})/.test(line));
  // A cut answer may end in the middle of a query. One line alone is all there is.
  const whole = isCut && lines.length > 1 ? lines.slice(0, -1) : lines;
  if (whole.every((line) => nothing.test(line))) return whole.length > 0 ? 'none' : [];
  const kept = whole.filter((line) => !nothing.test(line));
  // A line that announces the queries precedes them.
  return kept.length > 1 ? kept.filter((line) => !/[:：]$/.test(line.replaceAll(/[*_]+$/g, ''))) : kept;
}

const bullet = /^(?:[-*•–—·+>]+|\(?\d{1,2}[.):]|[a-c][.)])\s+/i;
const label =
  /^\**(?:(?:search |rewritten |standalone |first |second |third )?(?:query|question|suchanfrage|requête|consulta)(?: ?(?:no\. ?)?\d)?)\**\s*[:：]\**\s*/i;
const quotes = /^[\s"'“”„«»‘’`*_]+|[\s"'“”„«»‘’`*_,]+$/g;

/** A query without the marks around it. */
function clean(query: string): string {
  const line = query.replaceAll(/\s+/g, ' ').trim();
  const bare = line.replace(bullet, '').replace(label, '').trim();
  // Quotes inside a query are phrases: only a pair around the whole query is removed.
  return isQuotedWhole(bare) ? bare.replaceAll(quotes, '') : bare.replaceAll(/^[*_`]+|[*_`,]+$/g, '').trim();
}

function isQuotedWhole(text: string): boolean {
  return /^["'“„«‘`*_][^"“”„«»]*["'”“»’`*_],?$/.test(text);
}

function isQuery(query: string): boolean {
  return query.length <= maxQueryCharacters && /[\p{L}\p{N}]/u.test(query);
}

function distinct(queries: readonly string[]): string[] {
  const seen = new Set<string>();
  return queries.filter((query) => {
    const key = query.toLowerCase();
    return seen.has(key) ? false : Boolean(seen.add(key));
  });
}
