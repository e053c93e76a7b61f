import { indentOf, withoutIndent } from './markup-blocks.js';

/** `:name: value` */
export const field = /^\s*:([^:\s](?:[^:]|:(?=\S))*):(?:\s+(.*))?$/;

export const codeDirectives = new Set([
  'code',
  'code-block',
  'sourcecode',
  'parsed-literal',
  'math',
  'prompt',
  'productionlist',
  'highlight-block',
]);
export const included = new Set(['include', 'literalinclude', 'csv-include']);
/** Directives without text for readers. */
export const silent = new Set(
  (
    'toctree contents index meta highlight default-role role raw sectnum header footer target-notes tabularcolumns ' +
    'module currentmodule py:module py:currentmodule default-domain section-numbering'
  ).split(' '),
);
export const admonitions = new Set(
  'attention caution danger error hint important note tip warning seealso todo'.split(' '),
);
export const versions: Readonly<Record<string, string>> = {
  versionadded: 'Added in version',
  versionchanged: 'Changed in version',
  deprecated: 'Deprecated since version',
};

/** What stands below a directive. */
export interface DirectiveBody {
  options: [name: string, value: string][];
  body: string[];
}

/** The options at the beginning of a directive, and the lines after them. */
export function optionsOf(lines: readonly string[]): DirectiveBody {
  const options: [name: string, value: string][] = [];
  let at = 0;
  for (; at < lines.length && lines[at]!.trim() !== ''; at += 1) {
    const [, name, value = ''] = field.exec(lines[at]!) ?? [];
    if (name !== undefined) options.push([name.toLowerCase(), value.trim()]);
    else if (options.length > 0 && /^\s/.test(lines[at]!)) options.at(-1)![1] += ` ${lines[at]!.trim()}`;
    else break;
  }
  return { options, body: lines.slice(at) };
}

/** The lines from a place on that are indented deeper, without their common indentation. */
export function bodyOf(
  lines: readonly string[],
  from: number,
  indent: number,
): { lines: string[]; end: number } {
  let end = from;
  for (let at = from; at < lines.length; at += 1) {
    if (lines[at]!.trim() === '') continue;
    if (indentOf(lines[at]!) <= indent) break;
    end = at + 1;
  }
  return { lines: withoutIndent(lines.slice(from, end)), end };
}

/** Groups of lines between empty lines. */
export function paragraphsOf(lines: readonly string[]): string[][] {
  const groups: string[][] = [[]];
  for (const line of lines) {
    if (line.trim() !== '') groups.at(-1)!.push(line);
    else if (groups.at(-1)!.length > 0) groups.push([]);
  }
  return groups.filter((group) => group.length > 0);
}

const underline = /^([!-/:-@[-`{-~])\1*\s*$/;

/**
 * The heading at a place: a line above marks of one kind, or between two such lines; with the place after it. Without a mark: a
 * line between paragraphs. Undefined for other lines.
 */
export function titleAt(
  lines: readonly string[],
  at: number,
  isOpen: boolean,
): { text?: string; mark?: string; next: number } | undefined {
  const line = lines[at]!.trimEnd();
  const next = (lines[at + 1] ?? '').trimEnd();
  const isMark = underline.test(line);
  const isOverlined =
    isMark && line.length > 2 && next.trim() !== '' && (lines[at + 2] ?? '').trimEnd() === line;
  if (isOverlined) return { text: next, mark: `${line[0]}${line[0]}`, next: at + 3 };
  if (isMark && line.length >= 4 && !isOpen && next.trim() === '') return { next: at + 1 };
  if (isOpen || isMark || /^\s/.test(line) || !underline.test(next)) return undefined;
  // A short mark below a longer line is a list or a paragraph.
  const isShort = next.length < Math.min(3, line.length) || (next.length < line.length && next.length < 4);
  return isShort ? undefined : { text: line, mark: next[0]!, next: at + 2 };
}
