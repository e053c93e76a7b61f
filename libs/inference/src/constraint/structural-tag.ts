import type { OutputConstraint } from '#contracts';
import { ConstraintError } from './constraint-error.js';
import { choice, repeat, sequence, text, withPrefix, type Grammar, type GrammarNode } from './grammar.js';
import { jsonSchemaGrammar } from './json-schema/json-schema-grammar.js';
import { larkGrammar, quotedLarkGrammar } from './lark/lark-grammar.js';
import { pruneGrammar } from './prune-grammar.js';
import { isWritable, symbolsOfText } from './symbols.js';
import { writeEbnf } from './write-ebnf.js';
import { xmlParametersGrammar } from './xml-parameters.js';

type StructuralTagConstraint = Extract<OutputConstraint, { type: 'structural_tag' }>;
type Tag = StructuralTagConstraint['tags'][number];

/** A structural tag in XGrammar's JSON, for text that is free up to a trigger. */
export interface TagSource {
  readonly structuralTag: { readonly type: 'structural_tag'; readonly format: object };
}

/**
 * With `required` the answer is tags alone, a grammar like any other. Otherwise XGrammar watches the free text for the
 * triggers. Throws ConstraintError for triggers that do not tell the tags apart.
 */
export function structuralTagGrammar(
  constraint: StructuralTagConstraint,
  leadingSpaces: number,
): TagSource | { readonly ebnf: string } {
  checkTriggers(constraint);
  const grammars = constraint.tags.map(tagContent);
  const spaces = ' '.repeat(leadingSpaces);
  if (constraint.required) {
    const ebnf = writeEbnf(pruneGrammar(tagsOnly(constraint, grammars, spaces)));
    return { ebnf };
  }
  const tags = constraint.tags.map(({ begin, end }, index) => ({
    type: 'tag',
    begin: symbolsOfText(begin),
    content: { type: 'grammar', grammar: writeEbnf(pruneGrammar(grammars[index]!)) },
    end: symbolsOfText(end),
  }));
  const triggered = {
    type: 'triggered_tags',
    triggers: constraint.triggers.map(symbolsOfText),
    tags,
    stop_after_first: constraint.single ?? false,
  };
  const elements = [{ type: 'const_string', value: spaces }, triggered];
  const format = leadingSpaces > 0 ? { type: 'sequence', elements } : triggered;
  return { structuralTag: { type: 'structural_tag', format } };
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

/** One tag, or several with at most two ends of lines between. */
function tagsOnly(
  { tags, single }: StructuralTagConstraint,
  grammars: readonly Grammar[],
  spaces: string,
): Grammar {
  const rules = new Map<string, GrammarNode>();
  const options = tags.map(({ begin, end }, index) => {
    const prefix = `t${index}_`;
    const { root, rules: own } = grammars[index]!;
    for (const [name, node] of own) rules.set(`${prefix}${name}`, withPrefix(node, prefix));
    return sequence(text(begin), withPrefix(root, prefix), text(end));
  });
  rules.set('tag', choice(...options));
  const tag: GrammarNode = { kind: 'rule', name: 'tag' };
  const further = repeat(sequence(repeat(text('\n'), 0, 2), tag), 0);
  return { root: sequence(text(spaces), tag, ...(single ? [] : [further])), rules };
}
