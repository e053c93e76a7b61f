import { characterSet, charactersOf, complement } from '../regex/character-set.js';
import { ConstraintError } from '../constraint-error.js';
import {
  characters,
  choice,
  optional,
  repeat,
  rule,
  sequence,
  text,
  withPrefix,
  type Grammar,
  type GrammarNode,
} from '../grammar.js';
import { jsonSchemaGrammar } from '../json-schema/json-schema-grammar.js';
import { patternGrammar } from '../json-schema/string-grammar.js';

const close = '</parameter>';
const nameLetter = characters(characterSet([0x30, 0x39], [0x41, 0x5a], [0x5f, 0x5f], [0x61, 0x7a]));
const freeText = rule('free_text');

/**
 * Parameters in tags, as Qwen3-Coder writes them: `<parameter=name>\nvalue\n</parameter>\n`, in the order of the
 * schema's properties. Strings stand as they are, other values as JSON; without properties there may be any parameters.
 * Throws ConstraintError with the path of the property.
 */
export function xmlParametersGrammar(schema: Readonly<Record<string, unknown>>): Grammar {
  const rules = new Map([['free_text', textWithout(close)]]);
  const properties = schema['properties'] as Record<string, unknown> | undefined;
  if (!properties) return { root: repeat(parameter(repeat(nameLetter, 1, 64), freeText), 0), rules };
  const required = new Set((schema['required'] as string[] | undefined) ?? []);
  const parameters = Object.entries(properties).map(([name, value], index) => {
    const node = parameter(text(name), valueGrammar(value, { schema, rules, name, prefix: `p${index}_` }));
    return required.has(name) ? node : optional(node);
  });
  return { root: sequence(...parameters), rules };
}

interface Place {
  schema: Readonly<Record<string, unknown>>;
  rules: Map<string, GrammarNode>;
  name: string;
  prefix: string;
}

function parameter(name: GrammarNode, value: GrammarNode): GrammarNode {
  return sequence(text('<parameter='), name, text('>\n'), value, text(`\n${close}\n`));
}

function valueGrammar(value: unknown, { schema, rules, name, prefix }: Place): GrammarNode {
  const { type, enum: options, pattern } = (value ?? {}) as Record<string, unknown>;
  if (type === 'string' && Array.isArray(options))
    return choice(...options.map((each) => text(String(each))));
  if (type === 'string' && typeof pattern === 'string')
    return patternGrammar(pattern, ['properties', name, 'pattern']);
  if (type === 'string' || (Array.isArray(type) && type.includes('string'))) return freeText;
  const { $defs, definitions } = schema;
  try {
    const whole = {
      ...(value as object),
      ...($defs ? { $defs } : {}),
      ...(definitions ? { definitions } : {}),
    };
    const grammar = jsonSchemaGrammar(value === true ? true : whole);
    for (const [rule, node] of grammar.rules) rules.set(`${prefix}${rule}`, withPrefix(node, prefix));
    return withPrefix(grammar.root, prefix);
  } catch (error) {
    if (!(error instanceof ConstraintError)) throw error;
    throw new ConstraintError(error.reason, ['properties', name, ...error.path]);
  }
}

/** Any text that does not hold a mark, whose first character is nowhere else in it. */
function textWithout(mark: string): GrammarNode {
  const [first = '', ...rest] = Array.from(mark);
  const begun = rest.map((_letter, length) => sequence(text(first), text(rest.slice(0, length).join(''))));
  const brokenOff = rest.map((letter, length) =>
    sequence(begun[length]!, characters(complement(charactersOf(first + letter)))),
  );
  // Beginnings of the mark one behind the other, the last of them broken off or at the end.
  const beginnings = repeat(choice(...begun), 0);
  const other = characters(complement(charactersOf(first)));
  return sequence(repeat(choice(other, sequence(beginnings, choice(...brokenOff))), 0), beginnings);
}
