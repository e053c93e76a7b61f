import { isDeepStrictEqual } from 'node:util';
import { ConstraintError } from '../grammar.js';
import { hasType, readSchema, typesOf, type Path, type Schema, type SchemaNode } from './schema-node.js';

/** Schemas of properties or items before they are read. */
type Unread = unknown;

/**
 * Returns a schema for the values that satisfy both. References and alternatives are kept as `allOf`, which the caller
 * resolves. Throws ConstraintError for two keywords that cannot be joined exactly.
 */
export function intersectSchemas(first: Schema, second: Schema, path: Path): Schema {
  if (typeof first === 'boolean') return first ? second : false;
  if (typeof second === 'boolean') return second ? first : false;
  const joined: Record<string, unknown> = { ...first };
  for (const key of Object.keys(second) as (keyof SchemaNode)[]) {
    joined[key] = key in first ? joinKeyword(key, first, second, path) : second[key];
  }
  const properties = joinProperties(first, second);
  if (properties) joined['properties'] = properties;
  const additional = joinAdditional(first, second, path);
  if (additional !== undefined) joined['additionalProperties'] = additional;
  return joined;
}

function joinKeyword(key: keyof SchemaNode, first: SchemaNode, second: SchemaNode, path: Path): unknown {
  const a = first[key];
  const b = second[key];
  if (isDeepStrictEqual(a, b)) return a;
  switch (key) {
    case 'type':
      return joinTypes([a].flat() as string[], [b].flat() as string[]);
    case 'enum':
      return (a as unknown[]).filter((value) =>
        (b as unknown[]).some((other) => isDeepStrictEqual(value, other)),
      );
    case 'required':
      return [...new Set([...(a as string[]), ...(b as string[])])];
    case 'minimum':
    case 'exclusiveMinimum':
    case 'minLength':
    case 'minItems':
    case 'minProperties':
      return Math.max(a as number, b as number);
    case 'maximum':
    case 'exclusiveMaximum':
    case 'maxLength':
    case 'maxItems':
    case 'maxProperties':
      return Math.min(a as number, b as number);
    case 'uniqueItems':
    case 'nullable':
      return key === 'nullable' ? a === true && b === true : true;
    case 'items':
    case 'propertyNames':
      return { allOf: [a, b] };
    case 'properties':
    case 'additionalProperties':
      return undefined;
    default:
      throw new ConstraintError(`Two different "${key}" for the same value cannot be joined.`, path);
  }
}

/** Returns the common types; empty if there are none. */
function joinTypes(first: readonly string[], second: readonly string[]): string[] {
  return [...new Set([...first, ...second])].filter((type) => takes(first, type) && takes(second, type));
}

function takes(types: readonly string[], type: string): boolean {
  return types.includes(type) || (type === 'integer' && types.includes('number'));
}

/** Joins properties. A property of one side must satisfy the `additionalProperties` of the other side. */
function joinProperties(first: SchemaNode, second: SchemaNode): Record<string, Unread> | undefined {
  if (!first.properties && !second.properties) return undefined;
  const joined: Record<string, Unread> = {};
  for (const name of [...Object.keys(first.properties ?? {}), ...Object.keys(second.properties ?? {})]) {
    const parts = [ofProperty(first, name), ofProperty(second, name)].filter((part) => part !== true);
    joined[name] = parts.length === 2 ? { allOf: parts } : (parts[0] ?? true);
  }
  return joined;
}

function ofProperty({ properties, additionalProperties }: SchemaNode, name: string): Unread {
  if (properties && Object.hasOwn(properties, name)) return properties[name];
  return additionalProperties ?? true;
}

function joinAdditional(first: SchemaNode, second: SchemaNode, path: Path): Unread {
  const a = first.additionalProperties;
  const b = second.additionalProperties;
  if ((first.patternProperties || second.patternProperties) && (first.properties || second.properties)) {
    throw new ConstraintError('"patternProperties" cannot be joined with other properties.', path);
  }
  if (a === undefined || b === undefined) return a ?? b;
  if (a === false || b === false) return false;
  return a === true ? b : b === true ? a : { allOf: [a, b] };
}

/** Returns the schema with its `allOf` and `$ref` merged into it. */
export function flattenSchema(
  schema: Schema,
  path: Path,
  resolve: (reference: string, path: Path) => Schema,
  depth = 0,
): Schema {
  if (typeof schema === 'boolean' || (!schema.allOf && schema.$ref === undefined)) return schema;
  if (depth > 16) throw new ConstraintError('It refers to itself without end.', path);
  const { allOf = [], $ref, ...rest } = schema;
  const parts: Schema[] = allOf.map((part, index) => readSchema(part, [...path, 'allOf', index]));
  if ($ref !== undefined) parts.push(resolve($ref, path));
  let joined: Schema = rest;
  for (const part of parts) {
    joined = intersectAlternatives(joined, flattenSchema(part, path, resolve, depth + 1), path);
  }
  return joined;
}

/** Like {@link intersectSchemas}; if both have alternatives, the result has their combinations. */
function intersectAlternatives(first: Schema, second: Schema, path: Path): Schema {
  if (typeof first === 'boolean' || typeof second === 'boolean') return intersectSchemas(first, second, path);
  const key = first.anyOf ? 'anyOf' : first.oneOf ? 'oneOf' : undefined;
  if (!key || (!second.anyOf && !second.oneOf)) return intersectSchemas(first, second, path);
  const { [key]: options, ...rest } = first;
  return { ...rest, [key]: options!.map((option) => ({ allOf: [option, second] })) };
}

const deepest = 4;

/**
 * Returns true if it is certain that no value satisfies both: different types, different constants, or objects that a
 * required property distinguishes. `read` flattens the schema of a property.
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

/** True if both require a property with disjoint schemas, or one requires a property that the other does not allow. */
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
