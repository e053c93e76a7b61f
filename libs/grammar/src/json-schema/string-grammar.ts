import { ConstraintError } from '../constraint-error.js';
import { childrenOf, repeat, rule, type GrammarNode } from '../grammar.js';
import { escapeGrammar, quoted } from './json-grammar.js';
import { regexGrammar } from '../regex/regex-grammar.js';
import type { Path, SchemaNode } from './schema-node.js';
import { stringFormats } from './string-formats.js';

const mostCharacters = 20_000;

/** A JSON string of the schema's length, pattern or format. Throws ConstraintError for combinations of them. */
export function stringGrammar(schema: SchemaNode, path: Path): GrammarNode {
  const { minLength = 0, maxLength = Number.POSITIVE_INFINITY, pattern, format } = schema;
  if (pattern === undefined && format === undefined) {
    for (const [key, length] of Object.entries({ minLength, maxLength })) {
      if (Number.isFinite(length) && length > mostCharacters) {
        throw new ConstraintError(`At most ${mostCharacters} characters are supported.`, [...path, key]);
      }
    }
    if (minLength === 0 && maxLength === Number.POSITIVE_INFINITY) return rule('json_string');
    if (minLength > maxLength) return { kind: 'choice', options: [] };
    return quoted(repeat(rule('json_character'), minLength, maxLength));
  }
  const content = contentGrammar(pattern, format, path);
  const [shortest, longest] = lengths(content);
  if (shortest < minLength || longest > maxLength) {
    const key = pattern === undefined ? 'format' : 'pattern';
    const reason = `A length beside "${key}" is supported where the ${key} alone keeps to it.`;
    throw new ConstraintError(reason, [...path, shortest < minLength ? 'minLength' : 'maxLength']);
  }
  return quoted(escapeGrammar(content));
}

function contentGrammar(pattern: string | undefined, format: string | undefined, path: Path): GrammarNode {
  if (pattern !== undefined && format !== undefined) {
    throw new ConstraintError('"pattern" beside "format" is not supported.', [...path, 'pattern']);
  }
  if (pattern !== undefined) return patternGrammar(pattern, [...path, 'pattern']);
  const expression = Object.hasOwn(stringFormats, format!) ? stringFormats[format!] : undefined;
  if (expression) return regexGrammar(expression);
  const known = Object.keys(stringFormats).join(', ');
  throw new ConstraintError(`The format "${format}" is not supported; these are: ${known}.`, [
    ...path,
    'format',
  ]);
}

/** What the strings hold that a `pattern` finds itself in. */
export function patternGrammar(pattern: string, path: Path): GrammarNode {
  try {
    return regexGrammar(pattern, { search: true });
  } catch (error) {
    if (error instanceof ConstraintError) throw new ConstraintError(error.reason, path);
    throw error;
  }
}

/** Fewest and most characters. */
function lengths(node: GrammarNode): readonly [number, number] {
  if (node.kind === 'text') {
    const { length } = Array.from(node.text);
    return [length, length];
  }
  if (node.kind === 'characters') return [1, 1];
  const inner = childrenOf(node).map(lengths);
  const shortest = inner.map(([least]) => least);
  const longest = inner.map(([, most]) => most);
  if (node.kind === 'choice') return [Math.min(...shortest), Math.max(...longest)];
  if (node.kind === 'sequence') return [sum(shortest), sum(longest)];
  if (node.kind !== 'repeat') return [0, Number.POSITIVE_INFINITY];
  return [node.min * shortest[0]!, longest[0] === 0 || node.max === 0 ? 0 : node.max * longest[0]!];
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
