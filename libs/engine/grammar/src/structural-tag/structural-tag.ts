import type { OutputConstraint } from '#platform/contracts';
import {
  ConstraintError,
  characters,
  choice,
  isWritable,
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
import { larkGrammar, quotedLarkGrammar } from '../lark/lark-grammar.js';
import { pruneGrammar } from '../prune-grammar.js';
import {
  anyCharacter,
  characterSet,
  charactersOf,
  complement,
  subtract,
  union,
} from '../regex/character-set.js';

type StructuralTagConstraint = Extract<OutputConstraint, { type: 'structural_tag' }>;
type Tag = StructuralTagConstraint['tags'][number];

/**
 * Returns the grammar of a structural tag constraint. With `required` the text consists of tags only. Otherwise it is
 * free up to a trigger, which begins a tag. Throws ConstraintError for triggers that do not match the tags.
 */
export function structuralTagGrammar(constraint: StructuralTagConstraint): Grammar {
  checkTriggers(constraint);
  const rules = new Map<string, GrammarNode>();
  const tags = constraint.tags.map((tag, index): CompleteTag => {
    const prefix = `t${index}_`;
    const { root, rules: own } = tagContent(tag, index);
    for (const [name, node] of own) rules.set(`${prefix}${name}`, withPrefix(node, prefix));
    return { begin: tag.begin, behind: [withPrefix(root, prefix), text(tag.end)] };
  });
  if (constraint.required) {
    rules.set('tag', choice(...tags.map(({ begin, behind }) => sequence(text(begin), ...behind))));
    return { root: tagsOnly(constraint.single ?? false), rules };
  }
  const open = (trigger: string): GrammarNode => {
    const options = tags
      .filter(({ begin }) => begin.startsWith(trigger))
      .map(({ begin, behind }) => sequence(text(begin.slice(trigger.length)), ...behind));
    return sequence(choice(...options), ...(constraint.single ? [] : [rule(freeRule(''))]));
  };
  for (const [name, node] of freeText(constraint.triggers, open)) rules.set(name, node);
  return { root: rule(freeRule('')), rules };
}

interface CompleteTag {
  readonly begin: string;
  readonly behind: readonly GrammarNode[];
}

/** One tag, or several with at most two line ends between them. */
function tagsOnly(single: boolean): GrammarNode {
  const further = repeat(sequence(repeat(text('\n'), 0, 2), rule('tag')), 0);
  return sequence(rule('tag'), ...(single ? [] : [further]));
}

function tagContent(tag: Tag, index: number): Grammar {
  const [field, grammarOf] = contentOf(tag);
  try {
    const grammar = grammarOf();
    pruneGrammar(grammar);
    return grammar;
  } catch (error) {
    if (!(error instanceof ConstraintError)) throw error;
    throw new ConstraintError(error.reason, ['tags', index, field, ...error.path]);
  }
}

/** Returns the grammar of the content of a tag, and the field that defines it. */
function contentOf(tag: Tag): [field: string, grammarOf: () => Grammar] {
  if ('schema' in tag) return ['schema', () => jsonSchemaGrammar(tag.schema)];
  if ('parameters' in tag) return ['parameters', () => xmlParametersGrammar(tag.parameters)];
  return ['lark', () => (tag.raw ? larkGrammar(tag.lark) : quotedLarkGrammar(tag.lark))];
}

/** Checks that the marks can be written, each tag begins with exactly one trigger, and each trigger begins a tag. */
function checkTriggers({ triggers, tags }: StructuralTagConstraint): void {
  for (const [index, { begin, end }] of tags.entries()) {
    if (!isWritable(begin + end))
      throw new ConstraintError('It contains a control character.', ['tags', index]);
  }
  triggers.forEach((trigger, index) => {
    const other = triggers.findIndex((earlier, at) => at !== index && trigger.startsWith(earlier));
    if (other >= 0) {
      throw new ConstraintError(`It begins with trigger ${other}.`, ['triggers', index]);
    }
    if (!tags.some(({ begin }) => begin.startsWith(trigger))) {
      throw new ConstraintError('There is no tag that begins with it.', ['triggers', index]);
    }
  });
  tags.forEach(({ begin }, index) => {
    if (!triggers.some((trigger) => begin.startsWith(trigger))) {
      throw new ConstraintError('It does not begin with any of the triggers.', ['tags', index, 'begin']);
    }
  });
}

const close = '</parameter>';
const nameLetter = characters(characterSet([0x30, 0x39], [0x41, 0x5a], [0x5f, 0x5f], [0x61, 0x7a]));
const freeTextRule = rule('free_text');

/**
 * Parameters in tags, as Qwen3-Coder writes them: `<parameter=name>\nvalue\n</parameter>\n`, in the order of the
 * schema's properties. Strings are plain text, other values JSON. A schema without properties allows any parameters.
 * Throws ConstraintError with the path of the property.
 */
function xmlParametersGrammar(schema: Readonly<Record<string, unknown>>): Grammar {
  const rules = new Map([['free_text', textWithout(close)]]);
  const properties = schema['properties'] as Record<string, unknown> | undefined;
  if (!properties) return { root: repeat(parameter(repeat(nameLetter, 1, 64), freeTextRule), 0), rules };
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
  if (type === 'string' || (Array.isArray(type) && type.includes('string'))) return freeTextRule;
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

/** Any text that does not contain `mark`. The first character of the mark must not occur in its rest. */
function textWithout(mark: string): GrammarNode {
  const [first = '', ...rest] = Array.from(mark);
  const begun = rest.map((_letter, length) => sequence(text(first), text(rest.slice(0, length).join(''))));
  const brokenOff = rest.map((letter, length) =>
    sequence(begun[length]!, characters(complement(charactersOf(first + letter)))),
  );
  // Prefixes of the mark in sequence; another character or the end of the text follows the last one.
  const beginnings = repeat(choice(...begun), 0);
  const other = characters(complement(charactersOf(first)));
  return sequence(repeat(choice(other, sequence(beginnings, choice(...brokenOff))), 0), beginnings);
}

/** Returns the name of the rule for free text after a prefix of a trigger. */
function freeRule(begun: string): string {
  return `free_${Array.from(begun, (letter) => letter.codePointAt(0)!.toString(16)).join('_')}`;
}

/**
 * Returns the rules of free text in which the node of `open` follows each trigger. Each rule stands for the longest
 * prefix of a trigger at the end of the text, so that every trigger is detected. A trigger must not begin with another
 * one.
 */
function freeText(
  triggers: readonly string[],
  open: (trigger: string) => GrammarNode,
): Map<string, GrammarNode> {
  const begins = new Set([''].concat(triggers.flatMap(beginningsOf)));
  const letters = [...new Set(triggers.flatMap((trigger) => Array.from(trigger)))];
  const others = subtract(anyCharacter, union(...letters.map(charactersOf)));
  const rules = new Map<string, GrammarNode>();
  for (const begun of begins) {
    const options = letters.map((letter) => {
      const now = begun + letter;
      const trigger = triggers.find((one) => now.endsWith(one));
      return sequence(
        characters(charactersOf(letter)),
        trigger === undefined ? rule(freeRule(longestEnd(now, begins))) : open(trigger),
      );
    });
    const rest = sequence(characters(others), rule(freeRule('')));
    rules.set(freeRule(begun), choice(text(''), ...options, rest));
  }
  return rules;
}

/** Returns the prefixes of a text, without the text itself. */
function beginningsOf(given: string): string[] {
  const letters = Array.from(given);
  return letters.slice(0, -1).map((_letter, index) => letters.slice(0, index + 1).join(''));
}

/** Returns the longest of the prefixes that the text ends with. */
function longestEnd(given: string, begins: ReadonlySet<string>): string {
  const letters = Array.from(given);
  for (let index = 0; index < letters.length; index++) {
    const end = letters.slice(index).join('');
    if (begins.has(end)) return end;
  }
  return '';
}
