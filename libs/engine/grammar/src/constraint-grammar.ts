import { MegaNestError, type OutputConstraint } from '#platform/contracts';
import { ConstraintError, choice, rule, text, type Grammar } from './grammar.js';
import { parseEbnf } from './ebnf/ebnf-grammar.js';
import { jsonRules } from './json-schema/json-grammar.js';
import { jsonSchemaGrammar } from './json-schema/json-schema-grammar.js';
import { larkGrammar } from './lark/lark-grammar.js';
import { normalizeGrammar } from './normalize-grammar.js';
import { pruneGrammar } from './prune-grammar.js';
import { regexGrammar } from './regex/regex-grammar.js';
import { structuralTagGrammar } from './structural-tag/structural-tag.js';

/** Maximum characters of a constraint. */
const maxConstraintLength = 262_144;

/** Returns the grammar of a constraint. Throws ConstraintError with the path of the part that is not supported. */
export function constraintGrammar(constraint: OutputConstraint): Grammar {
  if (JSON.stringify(constraint).length > maxConstraintLength) {
    throw new ConstraintError(`It is longer than ${maxConstraintLength} characters.`);
  }
  return prepareGrammar(grammarOf(constraint));
}

/** Returns the grammar in the form for a GrammarMachine, without options that cannot end. */
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

/** Adds the field of the constraint to the path of an error. */
function within<Result>(field: string | readonly (string | number)[], work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof ConstraintError)) throw error;
    throw new ConstraintError(error.reason, [...[field].flat(), ...error.path]);
  }
}

/** Returns the grammar of a constraint. Errors: invalid_request, with the path of the part that is not supported. */
export function readConstraint(constraint: OutputConstraint): Grammar {
  return naming(constraint, () => constraintGrammar(constraint));
}

/** A text in a Lark grammar, which custom tools have. */
export interface LarkForm {
  readonly type: 'lark';
  readonly lark: string;
  readonly at?: string | undefined;
}

/** Returns the grammar of a Lark source. Errors: invalid_request for `constraint.lark`. */
export function readLark(form: LarkForm): Grammar {
  return naming(form, () => within('lark', () => prepareGrammar(larkGrammar(form.lark))));
}

/** Does work with a constraint. Errors: invalid_request, with the path of the part that is not supported. */
function naming<Result>(constraint: OutputConstraint | LarkForm, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw constraintProblem(constraint, error);
  }
}

/** The error of a caller for an error of its constraint; other errors as they are. */
export function constraintProblem(constraint: OutputConstraint | LarkForm, error: unknown): unknown {
  const isTooDeep = error instanceof RangeError;
  if (!(error instanceof ConstraintError) && !isTooDeep) return error;
  const param = pathOf(constraint, isTooDeep ? [] : error.path);
  const reason = isTooDeep ? 'It is nested too deeply.' : error.reason;
  return new MegaNestError('invalid_request', { detail: `${param}: ${reason}`, param, cause: error });
}

/** Fields of a constraint for which `at` stands. */
const namedFields: ReadonlySet<unknown> = new Set(['schema', 'pattern', 'grammar', 'lark']);

/** The path of a part of a constraint in the caller's request, as far as the constraint says where it stands there. */
function pathOf(constraint: OutputConstraint | LarkForm, path: readonly (string | number)[]): string {
  const [field, ...rest] = path;
  const tag = constraint.type === 'structural_tag' ? constraint.tags[Number(rest[0])] : undefined;
  if (field === 'tags' && tag?.at !== undefined)
    return [tag.at, ...(tag.derived ? [] : rest.slice(2))].join('.');
  if (constraint.at === undefined) return ['constraint', ...path].join('.');
  return [constraint.at, ...(namedFields.has(field) ? rest : path)].join('.');
}
