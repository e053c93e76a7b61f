export { ConstraintReader } from './constraint-reader.js';
export { type CompiledConstraint, GrammarCompiler, type ReadConstraint } from './grammar-compiler.js';
export { readConstraint, readLark } from './constraint-grammar.js';
export { textFits } from './text-fits.js';
export { TokenConstraint } from './token-constraint.js';
