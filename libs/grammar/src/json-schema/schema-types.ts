import { ConstraintError } from '../constraint-error.js';
import { jsonTypes, type JsonType, type Path, type SchemaNode } from './schema-node.js';

/** The types that a value may have; those that its keywords speak of where the schema names none. */
export function typesOf(schema: SchemaNode, path: Path): JsonType[] {
  const named = schema.type === undefined ? impliedTypes(schema) : [schema.type].flat();
  const unknown = named.find((type) => !jsonTypes.includes(type as JsonType));
  if (unknown !== undefined) {
    throw new ConstraintError(`There is no type "${unknown}".`, [...path, 'type']);
  }
  const types = schema.nullable ? [...named, 'null'] : named;
  const all = new Set(types as JsonType[]);
  if (all.has('number')) all.delete('integer');
  return [...all];
}

const keywordsOfTypes: readonly [JsonType, readonly (keyof SchemaNode)[]][] = [
  [
    'object',
    [
      ...(['properties', 'required', 'additionalProperties', 'patternProperties'] as const),
      ...(['propertyNames', 'minProperties', 'maxProperties'] as const),
    ],
  ],
  ['array', ['items', 'prefixItems', 'additionalItems', 'minItems', 'maxItems', 'uniqueItems']],
  ['string', ['minLength', 'maxLength', 'pattern', 'format']],
  ['number', ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf']],
];

function impliedTypes(schema: SchemaNode): JsonType[] {
  const implied = keywordsOfTypes.filter(([, keywords]) => keywords.some((key) => schema[key] !== undefined));
  return implied.length > 0
    ? implied.map(([type]) => type)
    : ['object', 'array', 'string', 'number', 'boolean', 'null'];
}

/** Whether a JSON value is of a type of JSON Schema. */
export function hasType(value: unknown, type: string): boolean {
  if (value === null) return type === 'null';
  if (Array.isArray(value)) return type === 'array';
  if (type === 'integer') return Number.isInteger(value);
  return typeof value === type;
}
