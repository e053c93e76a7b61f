import { ConstraintError } from '../grammar.js';

/** POSIX classes within brackets, as in Rust. */
const posixClasses: Readonly<Record<string, string>> = {
  alnum: 'A-Za-z0-9',
  alpha: 'A-Za-z',
  ascii: String.raw`\x00-\x7f`,
  blank: String.raw`\t `,
  cntrl: String.raw`\x00-\x1f\x7f`,
  digit: '0-9',
  graph: '!-~',
  lower: 'a-z',
  print: ' -~',
  punct: String.raw`!-\/:-@\[-\x60\{-~`,
  space: String.raw`\t\n\v\f\r `,
  upper: 'A-Z',
  word: String.raw`\w`,
  xdigit: '0-9A-Fa-f',
};

/** Syntax of other dialects, and its replacement in JavaScript's syntax. */
const outside: readonly [RegExp, (found: RegExpExecArray) => string][] = [
  [/\(\?P<([A-Za-z_]\w*)>/y, ([, name]) => `(?<${name}>`],
  [/\(\?#[^)]*\)/y, () => ''],
  [/\\A/y, () => '^'],
  [/\\[zZ]/y, () => '$'],
];
const everywhere: typeof outside = [
  [/\\([pP])([A-Z])(?![A-Za-z{])/y, ([, kind, name]) => `\\${kind}{${name}}`],
  [/\\x\{([0-9A-Fa-f]{1,6})\}/y, ([, code]) => `\\u{${code}}`],
  [/\\[^]/y, ([found]) => found],
];
const inside: typeof outside = [
  [/\[:(\^?)(\w+):\]/y, ([found, negated, name]) => posixClass(found, negated, name)],
];

/**
 * Converts an expression of Rust or Python to JavaScript's syntax: named groups (`(?P<name>…)`), `\A` and `\z`,
 * comments, `\pL`, `\x{…}`, `[[:alpha:]]`. JavaScript's own syntax stays unchanged. Throws ConstraintError for an
 * unknown class.
 */
export function translateDialect(pattern: string): string {
  if (!/\(\?[P#]|\\[AzZpPx]|\[:/.test(pattern)) return pattern;
  const written: string[] = [];
  let isInside = false;
  for (let at = 0; at < pattern.length;) {
    const found = translateAt(pattern, at, [...(isInside ? inside : outside), ...everywhere]);
    if (found) {
      written.push(found.text);
      at = found.end;
      continue;
    }
    const letter = pattern[at]!;
    if (letter === '[') isInside = true;
    if (letter === ']') isInside = false;
    written.push(letter);
    at++;
  }
  return written.join('');
}

function translateAt(
  pattern: string,
  at: number,
  rules: typeof outside,
): { text: string; end: number } | undefined {
  for (const [expression, write] of rules) {
    expression.lastIndex = at;
    const found = expression.exec(pattern);
    if (found) return { text: write(found), end: at + found[0].length };
  }
  return undefined;
}

function posixClass(found: string, negated: string | undefined, name: string | undefined): string {
  const characters = posixClasses[name ?? ''];
  if (characters === undefined || negated) throw new ConstraintError(`${found} is not supported.`);
  return characters;
}
