import { ConstraintError } from '../constraint-error.js';
import type { Path, SchemaNode } from './schema-node.js';
import { hasType, typesOf } from './schema-types.js';

const undecided = [
  ...(['pattern', 'format', 'multipleOf', 'properties', 'required', 'additionalProperties'] as const),
  ...([
    'patternProperties',
    'propertyNames',
    'minProperties',
    'maxProperties',
    'items',
    'prefixItems',
  ] as const),
  ...(['additionalItems', 'uniqueItems', 'minItems', 'maxItems'] as const),
];

/** True for a value of `enum` or `const` that the other keywords beside it let through. */
export function literalFits(value: unknown, schema: SchemaNode, path: Path): boolean {
  const key = undecided.find((keyword) => schema[keyword] !== undefined);
  if (key) {
    throw new ConstraintError(`"${key}" beside "enum" or "const" is not supported.`, [...path, key]);
  }
  if ('const' in schema && schema.enum && !schema.enum.some((other) => same(other, value))) return false;
  if (schema.type !== undefined && !typesOf(schema, path).some((type) => hasType(value, type))) return false;
  if (typeof value === 'string') return between(Array.from(value).length, schema.minLength, schema.maxLength);
  if (typeof value !== 'number') return true;
  const { minimum, maximum, exclusiveMinimum = -Infinity, exclusiveMaximum = Infinity } = schema;
  return between(value, minimum, maximum) && value > exclusiveMinimum && value < exclusiveMaximum;
}

function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function between(value: number, min = -Infinity, max = Infinity): boolean {
  return value >= min && value <= max;
}
