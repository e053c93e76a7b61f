import { MegaNestError, type OutputConstraint } from '#contracts';
import { ConstraintError, choice, rule, text, type Grammar } from './grammar.js';
import { parseEbnf } from './ebnf/ebnf-grammar.js';
import { jsonRules } from './json-schema/json-grammar.js';
import { jsonSchemaGrammar } from './json-schema/json-schema-grammar.js';
import { larkGrammar } from './lark/lark-grammar.js';
import { normalizeGrammar } from './normalize-grammar.js';
import { pruneGrammar } from './prune-grammar.js';
import { regexGrammar } from './regex/regex-grammar.js';
import { structuralTagGrammar } from './structural-tag/structural-tag.js';

/** Characters of the longest constraint that is taken. */
const longestConstraint = 262_144;

/** The grammar of the texts that a constraint allows. Throws ConstraintError with the path of what cannot be honored. */
export function constraintGrammar(constraint: OutputConstraint): Grammar {
  if (JSON.stringify(constraint).length > longestConstraint) {
    throw new ConstraintError(`It is longer than ${longestConstraint} characters.`);
  }
  return prepareGrammar(grammarOf(constraint));
}

/** The grammar as it is followed, without what could never come to an end. */
export function prepareGrammar(grammar: Grammar): Grammar {
  return normalizeGrammar(pruneGrammar(grammar));
}

function grammarOf(constraint: OutputConstraint): Grammar {
  switch (constraint.type) {
    case 'structural_tag':
      return structuralTagGrammar(constraint);
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
function within<Result>(field: string | readonly (string | number)[], work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof ConstraintError)) throw error;
    throw new ConstraintError(error.reason, [...[field].flat(), ...error.path]);
  }
}

/** The grammar of a constraint. Errors: invalid_request, with the path of what the constraint asks in vain. */
export function readConstraint(constraint: OutputConstraint): Grammar {
  return naming(() => constraintGrammar(constraint));
}

/** The grammar of a text in Lark. Errors: invalid_request for `constraint.lark`. */
export function readLark(source: string): Grammar {
  return naming(() => within('lark', () => prepareGrammar(larkGrammar(source))));
}

function naming(read: () => Grammar): Grammar {
  try {
    return read();
  } catch (error) {
    const isTooDeep = error instanceof RangeError;
    if (!(error instanceof ConstraintError) && !isTooDeep) throw error;
    const param = ['constraint', ...(isTooDeep ? [] : error.path)].join('.');
    const reason = isTooDeep ? 'It is nested too deeply.' : error.reason;
    throw new MegaNestError('invalid_request', { detail: `${param}: ${reason}`, param, cause: error });
  }
}
