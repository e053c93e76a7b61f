import { cpus, loadavg } from 'node:os';
import type { Result } from './interleave.js';

/** A table in Markdown. */
export function table(head: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const line = (cells: readonly (string | number)[]) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

/** Three digits, all of a number of a thousand and more. */
function threeDigits(value: number): string {
  return value >= 1000 ? value.toFixed(0) : value.toPrecision(3);
}

/** A table of speeds; the ratios compare each with the named one, by default the last. */
export function resultTable(unit: string, results: readonly Result[], base = results.at(-1)!.name): string {
  const rows = results.map(({ name, perSecond, perCpuSecond }) => [
    name,
    threeDigits(perSecond),
    ratioOf(results, 'perSecond', name, base).toFixed(2),
    threeDigits(perCpuSecond),
    ratioOf(results, 'perCpuSecond', name, base).toFixed(2),
  ]);
  return table(['', `${unit}/s`, 'ratio', `${unit} per CPU second`, 'ratio'], rows);
}

/**
 * A line of a table of targets: the speed of one contender relative to the other, by wall clock and by processor time.
 */
export function targetRow(
  what: string,
  target: string,
  results: readonly Result[],
  [name, base]: readonly [string, string],
): string[] {
  const [wall, cpu] = (['perSecond', 'perCpuSecond'] as const).map((key) =>
    formatRatio(ratioOf(results, key, name, base)),
  );
  return [what, target, `${wall}`, `${cpu}`];
}

/** The head of a table of {@link targetRow}s. */
export const targetHead = ['', 'target', 'by the clock', 'by processor time'];

/** Formats a number; a dash if it was not measured. */
function formatRatio(ratio: number): string {
  return Number.isNaN(ratio) ? '–' : ratio.toFixed(2);
}

function ratioOf(
  results: readonly Result[],
  key: 'perSecond' | 'perCpuSecond',
  name: string,
  base: string,
): number {
  const valueOf = (wanted: string) => results.find((result) => result.name === wanted)?.[key];
  const [value, other] = [valueOf(name), valueOf(base)];
  return value !== undefined && other ? value / other : Number.NaN;
}

/** The machine of the measurement, and its load. */
export function machine(): string {
  const [{ model } = { model: 'unknown' }] = cpus();
  return `${cpus().length} × ${model.trim()}, load ${loadavg()[0]!.toFixed(1)}, Node ${process.versions.node}`;
}
