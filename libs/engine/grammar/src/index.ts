export {
  ConstraintReader,
  type CompiledConstraint,
  GrammarCompiler,
  type ReadConstraint,
  textFits,
} from './grammar-compiler.js';
export { ConstraintError } from './grammar.js';
export { constraintProblem, readConstraint, readLark, type LarkForm } from './constraint-grammar.js';
export { TokenConstraint } from './token-constraint.js';
