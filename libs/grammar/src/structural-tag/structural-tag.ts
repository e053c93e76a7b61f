import type { OutputConstraint } from '#contracts';
import { ConstraintError } from '../constraint-error.js';
import { freeRule, freeText } from '../free-text.js';
import {
  choice,
  repeat,
  rule,
  sequence,
  text,
  withPrefix,
  type Grammar,
  type GrammarNode,
} from '../grammar.js';
import { jsonSchemaGrammar } from '../json-schema/json-schema-grammar.js';
import { larkGrammar, quotedLarkGrammar } from '../lark/lark-grammar.js';
import { pruneGrammar } from '../prune-grammar.js';
import { isWritable } from '../writable.js';
import { xmlParametersGrammar } from './xml-parameters.js';

type StructuralTagConstraint = Extract<OutputConstraint, { type: 'structural_tag' }>;
type Tag = StructuralTagConstraint['tags'][number];

/**
 * With `required` the answer is tags alone. Otherwise the text is free up to a trigger, which begins a tag. Throws
 * ConstraintError for triggers that do not tell the tags apart.
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

/** One tag, or several with at most two ends of lines between. */
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

/** What stands between the ends of a tag, and the field that says so. */
function contentOf(tag: Tag): [field: string, grammarOf: () => Grammar] {
  if ('schema' in tag) return ['schema', () => jsonSchemaGrammar(tag.schema)];
  if ('parameters' in tag) return ['parameters', () => xmlParametersGrammar(tag.parameters)];
  return ['lark', () => (tag.raw ? larkGrammar(tag.lark) : quotedLarkGrammar(tag.lark))];
}

/** All of it can be written, each tag begins with exactly one trigger, and each trigger begins some tag. */
function checkTriggers({ triggers, tags }: StructuralTagConstraint): void {
  for (const [index, { begin, end }] of tags.entries()) {
    if (!isWritable(begin + end)) throw new ConstraintError('It holds a control character.', ['tags', index]);
  }
  triggers.forEach((trigger, index) => {
    const other = triggers.findIndex((earlier, at) => at !== index && trigger.startsWith(earlier));
    if (other >= 0) {
      throw new ConstraintError(`It begins with trigger ${other}.`, ['triggers', index]);
    }
    if (!tags.some(({ begin }) => begin.startsWith(trigger))) {
      throw new ConstraintError('No tag begins with it.', ['triggers', index]);
    }
  });
  tags.forEach(({ begin }, index) => {
    if (!triggers.some((trigger) => begin.startsWith(trigger))) {
      throw new ConstraintError('It begins with none of the triggers.', ['tags', index, 'begin']);
    }
  });
}
