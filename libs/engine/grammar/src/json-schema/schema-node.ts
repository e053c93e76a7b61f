import { z } from 'zod';
import { ConstraintError } from '../grammar.js';

const count = z.int().min(0);

/** Supported keywords. Others are refused, because ignoring one would allow values that the schema forbids. */
const assertionsSchema = z.object({
  type: z.union([z.string(), z.array(z.string()).min(1)]),
  enum: z.array(z.unknown()).min(1),
  const: z.unknown(),
  $ref: z.string(),
  allOf: z.array(z.unknown()).min(1),
  anyOf: z.array(z.unknown()).min(1),
  oneOf: z.array(z.unknown()).min(1),
  properties: z.record(z.string(), z.unknown()),
  required: z.array(z.string()),
  additionalProperties: z.unknown(),
  patternProperties: z.record(z.string(), z.unknown()),
  propertyNames: z.unknown(),
  minProperties: count,
  maxProperties: count,
  items: z.unknown(),
  prefixItems: z.array(z.unknown()),
  additionalItems: z.unknown(),
  minItems: count,
  maxItems: count,
  uniqueItems: z.boolean(),
  minLength: count,
  maxLength: count,
  pattern: z.string(),
  format: z.string(),
  minimum: z.number(),
  maximum: z.number(),
  exclusiveMinimum: z.number(),
  exclusiveMaximum: z.number(),
  multipleOf: z.number().gt(0),
  nullable: z.boolean(),
});
const schemaNodeSchema = assertionsSchema.partial();
export type SchemaNode = z.infer<typeof schemaNodeSchema>;
export type Schema = boolean | SchemaNode;

/** Keywords without an effect on validation, like names that begin with `x-`. */
const annotations = new Set(
  (
    'title description default examples example deprecated readOnly writeOnly $schema $comment $defs definitions ' +
    'discriminator contentEncoding contentMediaType'
  ).split(' '),
);

const jsonTypes = ['object', 'array', 'string', 'integer', 'number', 'boolean', 'null'] as const;
export type JsonType = (typeof jsonTypes)[number];

export type Path = readonly (string | number)[];

/** Parses the keywords of a schema that affect validation. Throws ConstraintError for an unknown or invalid keyword. */
export function readSchema(value: unknown, path: Path): Schema {
  if (typeof value === 'boolean') return value;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new ConstraintError('A schema is an object or a boolean.', path);
  }
  const asserting = Object.entries(value).filter(([key]) => !annotations.has(key) && !key.startsWith('x-'));
  for (const [key, setting] of asserting)
    if (!Object.hasOwn(assertionsSchema.shape, key)) refuse(key, setting, path);
  const { properties } = value as { properties?: unknown };
  if (typeof properties === 'object' && properties !== null && Object.hasOwn(properties, '__proto__')) {
    throw new ConstraintError('The name "__proto__" is not supported.', [...path, 'properties']);
  }
  const parsed = schemaNodeSchema.safeParse(Object.fromEntries(asserting));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new ConstraintError(issue!.message, [...path, ...(issue!.path as (string | number)[])]);
}

function refuse(key: string, setting: unknown, path: Path): void {
  // An id has no effect here, because references to ids are refused.
  if ((key === '$id' || key === '$anchor') && typeof setting === 'string') return;
  const hint = refusals.get(key);
  throw new ConstraintError(
    `The keyword "${key}" is not supported${hint ? `: ${hint}` : '; unknown keywords are allowed with x- in front'}.`,
    [...path, key],
  );
}

const refusals: ReadonlyMap<string, string> = new Map(
  Object.entries({
    'what is not allowed cannot be written as a grammar': ['not'],
    'write the cases as anyOf': [
      'if',
      'then',
      'else',
      'dependentRequired',
      'dependentSchemas',
      'dependencies',
    ],
    'give items instead': ['contains', 'minContains', 'maxContains'],
    'use additionalProperties': ['unevaluatedProperties'],
    'use items': ['unevaluatedItems'],
    'use $ref': ['$dynamicRef', '$recursiveRef'],
  }).flatMap(([hint, keys]) => keys.map((key) => [key, hint])),
);

/** Returns the allowed types; for a schema without `type` the types that its keywords apply to. */
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

/** Returns true if a JSON value has a type of JSON Schema. */
export function hasType(value: unknown, type: string): boolean {
  if (value === null) return type === 'null';
  if (Array.isArray(value)) return type === 'array';
  if (type === 'integer') return Number.isInteger(value);
  return typeof value === type;
}

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

/** Returns true if a value of `enum` or `const` satisfies the other keywords of the schema. */
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
