import {
  characterSet,
  charactersOf,
  intersection,
  subtract,
  anyCharacter,
  type CharacterSet,
} from '../regex/character-set.js';
import {
  characters,
  choice,
  mapChildren,
  optional,
  repeat,
  rule,
  sequence,
  text,
  type GrammarNode,
} from '../grammar.js';

/** Characters that a JSON string contains unescaped. */
const plainCharacters = subtract(anyCharacter, characterSet([0, 0x1f], [0x22, 0x22], [0x5c, 0x5c]));
const digits = characterSet([0x30, 0x39]);
const hexDigits = charactersOf('0123456789abcdefABCDEF');
const shortEscapes = new Map(
  Array.from('"\\\b\f\n\r\t', (letter) => [letter.codePointAt(0)!, escapeOf(letter)]),
);

/** One digit, `0` to `9`. */
export const digit = characters(digits);

/** At most a space, or a new line with its indentation; otherwise a model could write white space without end. */
const space = choice(
  text(''),
  text(' '),
  sequence(text('\n'), repeat(characters(charactersOf(' \t')), 0, 24)),
);

/** A character of a free JSON string, unescaped or escaped, except half of a surrogate pair. */
const stringCharacter = choice(
  characters(plainCharacters),
  sequence(
    text('\\'),
    choice(
      characters(charactersOf('"\\/bfnrt')),
      sequence(
        text('u'),
        choice(
          sequence(characters(subtract(hexDigits, charactersOf('dD'))), repeat(characters(hexDigits), 3, 3)),
          sequence(
            characters(charactersOf('dD')),
            characters(charactersOf('01234567')),
            repeat(characters(hexDigits), 2, 2),
          ),
        ),
      ),
    ),
  ),
);

/** Any number within the range of a double. */
const number = sequence(
  optional(text('-')),
  choice(text('0'), sequence(characters(charactersOf('123456789')), repeat(digit, 0, 14))),
  optional(sequence(text('.'), repeat(digit, 1, 15))),
  optional(
    sequence(characters(charactersOf('eE')), optional(characters(charactersOf('+-'))), repeat(digit, 1, 2)),
  ),
);

const jsonSpace = rule('json_space');

/** Rules that every JSON grammar may refer to; unused rules are dropped. */
export const jsonRules: ReadonlyMap<string, GrammarNode> = new Map([
  ['json_space', space],
  ['json_character', stringCharacter],
  ['json_string', quoted(repeat(rule('json_character'), 0))],
  ['json_number', number],
  ['json_object', braces('{', listOf(sequence(rule('json_string'), colon(), rule('json_value')), 0), '}')],
  ['json_array', braces('[', listOf(rule('json_value'), 0), ']')],
  [
    'json_value',
    choice(
      rule('json_object'),
      rule('json_array'),
      rule('json_string'),
      rule('json_number'),
      text('true'),
      text('false'),
      text('null'),
    ),
  ],
]);

export function quoted(content: GrammarNode): GrammarNode {
  return sequence(text('"'), content, text('"'));
}

/** Between a name and its value. */
export function colon(): GrammarNode {
  return sequence(jsonSpace, text(':'), jsonSpace);
}

/** Between two members. */
export function comma(): GrammarNode {
  return sequence(jsonSpace, text(','), jsonSpace);
}

export function braces(open: string, content: GrammarNode, close: string): GrammarNode {
  return sequence(text(open), jsonSpace, content, jsonSpace, text(close));
}

/** From `min` to `max` items, separated by commas. */
export function listOf(item: GrammarNode, min: number, max = Number.POSITIVE_INFINITY): GrammarNode {
  if (max === 0) return text('');
  const list = sequence(item, repeat(sequence(comma(), item), Math.max(0, min - 1), max - 1));
  return min === 0 ? optional(list) : list;
}

/** A constant JSON value with a single spelling. */
export function jsonLiteral(value: unknown): GrammarNode {
  return text(JSON.stringify(value));
}

/**
 * Converts a grammar of strings to the grammar of their JSON text between the quotes, with one spelling per character.
 * References to rules stay as they are; the caller converts the rules.
 */
export function escapeGrammar(node: GrammarNode): GrammarNode {
  if (node.kind === 'text') return text(escapeOf(node.text));
  return node.kind === 'characters' ? escapeSet(node.set) : mapChildren(node, escapeGrammar);
}

function escapeSet(set: CharacterSet): GrammarNode {
  const options: GrammarNode[] = [];
  const plain = intersection(set, plainCharacters);
  if (plain.length > 0) options.push(characters(plain));
  for (const [first, last] of subtract(set, plainCharacters)) {
    for (let code = first; code <= last; code++) {
      options.push(text(shortEscapes.get(code) ?? escapeOf(String.fromCodePoint(code))));
    }
  }
  return choice(...options);
}

function escapeOf(value: string): string {
  return JSON.stringify(value).slice(1, -1);
}
