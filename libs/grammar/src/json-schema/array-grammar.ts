import { ConstraintError } from '../constraint-error.js';
import { choice, sequence, text, type GrammarNode } from '../grammar.js';
import { braces, comma, listOf } from './json-grammar.js';
import type { Path, SchemaNode } from './schema-node.js';

type CompileSchema = (schema: unknown, path: Path) => GrammarNode;

/** More items than this are refused as a bound. */
const mostItems = 4096;

/** A JSON array: first the items of `prefixItems`, then any number of further ones within the bounds. */
export function arrayGrammar(schema: SchemaNode, path: Path, compile: CompileSchema): GrammarNode {
  const { minItems = 0, maxItems = Number.POSITIVE_INFINITY, uniqueItems } = schema;
  checkBounds(schema, path);
  if (uniqueItems && maxItems > 1) {
    throw new ConstraintError('"uniqueItems" is not supported.', [...path, 'uniqueItems']);
  }
  // Before 2020-12 a list of `items` was what `prefixItems` is now.
  const isTuple = Array.isArray(schema.items);
  const prefix = isTuple ? (schema.items as unknown[]) : (schema.prefixItems ?? []);
  const prefixKey = isTuple ? 'items' : 'prefixItems';
  const further = isTuple ? (schema.additionalItems ?? true) : (schema.items ?? prefix.length === 0);
  const first = prefix.map((item, index) => compile(item, [...path, prefixKey, index]));
  const item = compile(further, [...path, isTuple ? 'additionalItems' : 'items']);
  if (first.length === 0) return braces('[', listOf(item, minItems, maxItems), ']');
  const lists: GrammarNode[] = [];
  for (let count = minItems; count <= Math.min(maxItems, first.length - 1); count++) {
    lists.push(joined(first.slice(0, count)));
  }
  if (maxItems >= first.length) {
    const [least, most] = [Math.max(0, minItems - first.length), maxItems - first.length];
    const whole = joined(first);
    if (least === 0) lists.push(whole);
    if (most > 0) lists.push(sequence(whole, comma(), listOf(item, Math.max(1, least), most)));
  }
  return braces('[', choice(...lists), ']');
}

function checkBounds({ minItems, maxItems }: SchemaNode, path: Path): void {
  for (const [key, bound] of Object.entries({ minItems, maxItems })) {
    if (bound !== undefined && bound > mostItems) {
      throw new ConstraintError(`At most ${mostItems} items are supported.`, [...path, key]);
    }
  }
}

function joined(items: readonly GrammarNode[]): GrammarNode {
  if (items.length === 0) return text('');
  return sequence(...items.flatMap((item, index) => (index === 0 ? [item] : [comma(), item])));
}
