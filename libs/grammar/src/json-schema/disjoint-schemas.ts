import { isDeepStrictEqual } from 'node:util';
import type { Schema, SchemaNode } from './schema-node.js';
import { hasType, typesOf } from './schema-types.js';

const deepest = 4;

/**
 * True where it is certain that no value satisfies both: other types, other constants, or objects told apart by a
 * property that both require. `read` turns the schema of a property into a flat one.
 */
export function disjoint(
  first: Schema,
  second: Schema,
  read: (value: unknown) => Schema,
  depth = 0,
): boolean {
  if (first === false || second === false) return true;
  if (first === true || second === true || depth > deepest) return false;
  const both = [first, second] as const;
  for (const [schema, other] of [both, [second, first]] as const) {
    const options = schema.anyOf ?? schema.oneOf;
    if (options) {
      const apart = options.every((option) => disjoint(read(option), other, read, depth + 1));
      if (apart) return true;
    }
  }
  const [a, b] = both.map(valuesOf);
  if (a && b) return !a.some((value) => b.some((other) => isDeepStrictEqual(value, other)));
  if (a) return isKnownType(second) && !a.some((value) => mayBe(value, second));
  if (b) return isKnownType(first) && !b.some((value) => mayBe(value, first));
  if (!isKnownType(first) || !isKnownType(second)) return false;
  const shared = sharedTypes(first, second);
  if (shared.length === 0) return true;
  return shared.length === 1 && shared[0] === 'object' && toldApart(first, second, read, depth);
}

function valuesOf(schema: SchemaNode): readonly unknown[] | undefined {
  return 'const' in schema ? [schema.const] : schema.enum;
}

function isKnownType(schema: SchemaNode): boolean {
  return schema.type !== undefined;
}

function mayBe(value: unknown, schema: SchemaNode): boolean {
  return typesOf(schema, []).some((type) => hasType(value, type));
}

function sharedTypes(first: SchemaNode, second: SchemaNode): string[] {
  const others = wideTypes(second);
  return wideTypes(first).filter((type) => others.includes(type));
}

function wideTypes(schema: SchemaNode): string[] {
  return typesOf(schema, []).map((type) => (type === 'integer' ? 'number' : type));
}

/** By a property that both require with nothing in common, or that one requires and the other does not have. */
function toldApart(
  first: SchemaNode,
  second: SchemaNode,
  read: (value: unknown) => Schema,
  depth: number,
): boolean {
  const apart = (one: SchemaNode, other: SchemaNode) =>
    (one.required ?? []).some(
      (name) =>
        lacks(other, name) ||
        (other.required?.includes(name) &&
          has(one, name) &&
          has(other, name) &&
          disjoint(read(one.properties![name]), read(other.properties![name]), read, depth + 1)),
    );
  return apart(first, second) || apart(second, first);
}

function lacks(schema: SchemaNode, name: string): boolean {
  return schema.additionalProperties === false && !schema.patternProperties && !has(schema, name);
}

function has({ properties }: SchemaNode, name: string): boolean {
  return properties !== undefined && Object.hasOwn(properties, name);
}
