import { quantile } from '../harness/interleave.js';
import { table } from '../harness/markdown.js';
import { halfOf, type Half } from '../answers/questions.js';
import type { Verdict } from './judge.js';
import type { EvidenceQuestion } from './questions.js';

/** The window of a model, and whether it writes search queries. */
export interface Variant {
  readonly window: number;
  readonly queries: boolean;
}

/** The evidence for a question in one variant. */
export interface Measured {
  readonly question: Pick<EvidenceQuestion, 'id' | 'kind' | 'type'>;
  readonly variant: Variant;
  readonly verdict: Verdict;
  /** From the request to the engine's receipt of the prompt. */
  readonly milliseconds: number;
  /** Processor time of all services and of the benchmark. */
  readonly cpuMilliseconds: number;
}

const percent = (part: number, whole: number) =>
  whole === 0 ? '–' : `${((100 * part) / whole).toFixed(1)}%`;
const mean = (values: readonly number[]) =>
  values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
const nameOf = ({ window, queries }: Variant) =>
  `${window.toLocaleString('en')}${queries ? ', with queries' : ''}`;
const count = (list: readonly Measured[], flag: 'complete' | 'told') =>
  list.filter(({ verdict }) => verdict[flag]).length;

/** Lists by a property, in the order of its first occurrence. */
function groupBy<Item>(items: readonly Item[], keyOf: (item: Item) => string): Map<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return groups;
}

const head = ['window', 'n', 'facts', 'rows told', 'tokens', 'blocks', 'p50 ms', 'p90 ms', 'processor ms'];

/** A row for each variant. */
function totals(measured: readonly Measured[]): string {
  const rows = [...groupBy(measured, ({ variant }) => nameOf(variant))].map(([name, list]) => [
    name,
    list.length,
    percent(count(list, 'complete'), list.length),
    count(list, 'told'),
    mean(list.map(({ verdict }) => verdict.tokens)).toFixed(0),
    mean(list.map(({ verdict }) => verdict.blocks)).toFixed(1),
    quantile(
      list.map(({ milliseconds }) => milliseconds),
      0.5,
    ).toFixed(0),
    quantile(
      list.map(({ milliseconds }) => milliseconds),
      0.9,
    ).toFixed(0),
    mean(list.map(({ cpuMilliseconds }) => cpuMilliseconds)).toFixed(0),
  ]);
  return table(head, rows);
}

/** A row for each type or kind, a column for each variant. */
function shares(measured: readonly Measured[], property: 'type' | 'kind'): string {
  const variants = [...new Set(measured.map(({ variant }) => nameOf(variant)))];
  const rows = [...groupBy(measured, ({ question }) => question[property])].map(([name, list]) => [
    name,
    new Set(list.map(({ question }) => question.id)).size,
    ...variants.map((variant) => {
      const own = list.filter((each) => nameOf(each.variant) === variant);
      return percent(count(own, 'complete'), own.length);
    }),
  ]);
  return table([property, 'n', ...variants], rows);
}

/** Makes the tables: of the held half the totals alone, of the tuned half also those by type and by kind. */
export function report(measured: readonly Measured[]): string {
  const halves = (['tune', 'held'] as const).map((half: Half) => ({
    half,
    own: measured.filter(({ question }) => halfOf(question.id) === half),
  }));
  return halves
    .filter(({ own }) => own.length > 0)
    .flatMap(({ half, own }) => [
      `The ${half} half:`,
      totals(own),
      ...(half === 'tune' ? [shares(own, 'type'), shares(own, 'kind')] : []),
    ])
    .join('\n\n');
}
