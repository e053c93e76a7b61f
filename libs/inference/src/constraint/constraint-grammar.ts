import type { OutputConstraint } from '#contracts';
import { ConstraintError } from './constraint-error.js';
import { parseEbnf } from './ebnf-grammar.js';
import { choice, rule, sequence, text, type Grammar } from './grammar.js';
import { jsonRules } from './json-grammar.js';
import { jsonSchemaGrammar } from './json-schema/json-schema-grammar.js';
import { pruneGrammar } from './prune-grammar.js';
import { regexGrammar } from './regex-grammar.js';
import { structuralTagGrammar, type TagSource } from './structural-tag.js';
import { writeEbnf } from './write-ebnf.js';

/** What XGrammar compiles. */
export type GrammarSource = { readonly ebnf: string } | TagSource;

/** Characters of the longest constraint that is taken. */
const longestConstraint = 262_144;

/**
 * The grammar of the texts that a constraint allows.
 * @param leadingSpaces Spaces in front that decoding drops from an answer; the tokens have to begin with them.
 * Throws ConstraintError with the path of what cannot be honoured.
 */
export function constraintGrammar(constraint: OutputConstraint, leadingSpaces = 0): GrammarSource {
  if (JSON.stringify(constraint).length > longestConstraint) {
    throw new ConstraintError(`It is longer than ${longestConstraint} characters.`);
  }
  if (constraint.type === 'structural_tag') return structuralTagGrammar(constraint, leadingSpaces);
  return { ebnf: ebnfOf(grammarOf(constraint), leadingSpaces) };
}

/** The grammar as text, without what could never come to an end. */
export function ebnfOf({ root, rules }: Grammar, leadingSpaces = 0): string {
  const spaced = leadingSpaces > 0 ? sequence(text(' '.repeat(leadingSpaces)), root) : root;
  return writeEbnf(pruneGrammar({ root: spaced, rules }));
}

function grammarOf(constraint: Exclude<OutputConstraint, { type: 'structural_tag' }>): Grammar {
  switch (constraint.type) {
    case 'json_object':
      return { root: rule('json_object'), rules: jsonRules };
    case 'json_schema':
      return within('schema', () => jsonSchemaGrammar(constraint.schema));
    case 'regex':
      return within('pattern', () => ({ root: regexGrammar(constraint.pattern), rules: new Map() }));
    case 'choice':
      return { root: choice(...constraint.choices.map(text)), rules: new Map() };
    default:
      return within('grammar', () => parseEbnf(constraint.grammar));
  }
}

/** Says of an error in which field of the constraint it is. */
export function within<Result>(field: string | readonly (string | number)[], work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof ConstraintError)) throw error;
    throw new ConstraintError(error.reason, [...[field].flat(), ...error.path]);
  }
}
