import { MegaNestError, type OutputConstraint } from '#contracts';
import { ConstraintError } from './constraint-error.js';
import { constraintGrammar, prepareGrammar, within } from './constraint-grammar.js';
import type { Grammar } from './grammar.js';
import { larkGrammar } from './lark/lark-grammar.js';

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
