import { Environment, type ASTNode } from '@marcbachmann/cel-js';

/** The variables of a condition; each is a map. */
export interface ConditionContext {
  /** The request that started the mega service. */
  request: unknown;
  /** Effective parameters of all nodes; the node's own take precedence. */
  parameters: Readonly<Record<string, unknown>>;
  /** Outputs of the ancestors, by name; a node that was skipped without a bypass is absent. */
  outputs: Readonly<Record<string, unknown>>;
}

/** A compiled `when` expression. */
export interface Condition {
  readonly source: string;
  /** Names read as `outputs.<name>`. */
  readonly outputs: readonly string[];
  /** Errors: Error if the expression reads a missing value or its value is not a boolean. */
  evaluate(context: ConditionContext): boolean;
}

/**
 * CEL with three variables. Functions cannot access anything outside the expression, and the size of expressions is
 * limited.
 */
const environment = new Environment({
  homogeneousAggregateLiterals: false,
  enableOptionalTypes: true,
  limits: { maxAstNodes: 500, maxDepth: 50 },
})
  .registerVariable('request', 'map')
  .registerVariable('parameters', 'map')
  .registerVariable('outputs', 'map');

/**
 * Numbers of a request are doubles in CEL, and literals like 2 are integers; these overloads allow arithmetic on
 * both.
 */
const arithmetic: Record<string, (left: number, right: number) => number> = {
  '+': (left, right) => left + right,
  '-': (left, right) => left - right,
  '*': (left, right) => left * right,
  '/': (left, right) => left / right,
};
for (const [operator, calculate] of Object.entries(arithmetic)) {
  const mixed = (left: number | bigint, right: number | bigint) => calculate(Number(left), Number(right));
  environment.registerOperator(`double ${operator} int: double`, mixed);
  environment.registerOperator(`int ${operator} double: double`, mixed);
}

/** Compiles a `when` expression. Errors: Error with a message of one line. */
export function compileCondition(source: string): Condition {
  const evaluate = inOneLine(() => environment.parse(source));
  const check = evaluate.check();
  if (!check.valid) throw new Error(check.error?.summary ?? 'the expression is not valid');
  if (check.type !== 'bool' && check.type !== 'dyn')
    throw new Error(`the expression returns a value of type ${check.type}, not a boolean`);
  return {
    source,
    outputs: [...readOutputs(evaluate.ast)],
    evaluate(context) {
      const value: unknown = inOneLine(() => evaluate({ ...context }) as unknown);
      if (typeof value !== 'boolean') throw new Error(`"${source}" does not return a boolean`);
      return value;
    },
  };
}

/** The interpreter's messages mark the position in further lines; only the first line is kept. */
function inOneLine<Result>(action: () => Result): Result {
  try {
    return action();
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    throw new Error(message.split('\n')[0], { cause });
  }
}

/** Names read as `outputs.name` or `outputs["name"]`. */
function readOutputs(part: unknown, names = new Set<string>()): Set<string> {
  if (Array.isArray(part)) for (const element of part) readOutputs(element, names);
  if (!isNode(part)) return names;
  const name = outputName(part);
  if (name !== undefined) names.add(name);
  return readOutputs(part.args, names);
}

function outputName(node: ASTNode): string | undefined {
  if (!['.', '.?', '[]', '[?]'].includes(node.op)) return undefined;
  const [owner, key] = node.args as [unknown, unknown];
  if (!isNode(owner) || owner.op !== 'id' || owner.args !== 'outputs') return undefined;
  if (typeof key === 'string') return key;
  return isNode(key) && key.op === 'value' && typeof key.args === 'string' ? key.args : undefined;
}

function isNode(part: unknown): part is ASTNode {
  return typeof part === 'object' && part !== null && 'op' in part && 'args' in part;
}
