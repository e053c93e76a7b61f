import { ConstraintError, childrenOf, repeat, rule, type GrammarNode } from '../grammar.js';
import { regexGrammar } from '../regex/regex-grammar.js';
import { escapeGrammar, quoted } from './json-grammar.js';
import type { Path, SchemaNode } from './schema-node.js';

const maxCharacters = 20_000;

/** A JSON string with the schema's length, pattern or format. Throws ConstraintError for unsupported combinations. */
export function stringGrammar(schema: SchemaNode, path: Path): GrammarNode {
  const { minLength = 0, maxLength = Number.POSITIVE_INFINITY, pattern, format } = schema;
  if (pattern === undefined && format === undefined) {
    for (const [key, length] of Object.entries({ minLength, maxLength })) {
      if (Number.isFinite(length) && length > maxCharacters) {
        throw new ConstraintError(`At most ${maxCharacters} characters are supported.`, [...path, key]);
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
    const reason = `A length with "${key}" is supported only if every text of the ${key} has that length.`;
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

/** Returns the grammar of the strings in which a `pattern` occurs. Throws ConstraintError with the path. */
export function patternGrammar(pattern: string, path: Path): GrammarNode {
  try {
    return regexGrammar(pattern, { search: true });
  } catch (error) {
    if (error instanceof ConstraintError) throw new ConstraintError(error.reason, path);
    throw error;
  }
}

/** Returns the minimum and maximum number of characters. */
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

const hour = '([01][0-9]|2[0-3])';
const sixty = '[0-5][0-9]';
const leapYear = '([0-9]{2}(0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00)';
const date = `([0-9]{4}-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))|${leapYear}-02-29)`;
const time = `${hour}:${sixty}:${sixty}(\\.[0-9]{1,9})?(Z|[+-]${hour}:${sixty})`;
const shortLabel = '[A-Za-z0-9]([A-Za-z0-9-]{0,14}[A-Za-z0-9])?';
const label = '[A-Za-z0-9]+(-[A-Za-z0-9]+)*';
const byte = '(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])';
const group = '[0-9a-fA-F]{1,4}';
const pathCharacter = "([A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})";
const days = '[0-9]{1,6}';

/**
 * Supported formats, as expressions for the whole string. Each matches only valid strings of the format; some leave
 * rare forms out (leap seconds, IPv6 with an IPv4 tail, quoted mailboxes).
 */
const stringFormats: Readonly<Record<string, string>> = {
  date,
  time,
  'date-time': `${date}T${time}`,
  duration: `P(${days}W|(${days}Y(${days}M(${days}D)?)?|${days}M(${days}D)?|${days}D)(T(${days}H(${days}M(${days}S)?)?|${days}M(${days}S)?|${days}S))?|T(${days}H(${days}M(${days}S)?)?|${days}M(${days}S)?|${days}S))`,
  email: `[A-Za-z0-9_+-]+(\\.[A-Za-z0-9_+-]+)*@${label}(\\.${label})+`,
  hostname: `${shortLabel}(\\.${shortLabel}){0,3}`,
  ipv4: `${byte}(\\.${byte}){3}`,
  ipv6: `(${group}:){7}${group}|(${group}:){1,6}:${group}|::(${group}:){0,5}${group}|::`,
  uri: `[A-Za-z][A-Za-z0-9+.-]*://${label}(\\.${label})*(:[0-9]{1,5})?(/${pathCharacter}*)*(\\?(${pathCharacter}|[/?])*)?(#(${pathCharacter}|[/?])*)?`,
  uuid: '[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}',
};
