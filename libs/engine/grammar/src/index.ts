export {
  ConstraintReader,
  type CompiledConstraint,
  GrammarCompiler,
  type ReadConstraint,
  textFits,
} from './grammar-compiler.js';
export { readConstraint, readLark } from './constraint-grammar.js';
export { TokenConstraint } from './token-constraint.js';
