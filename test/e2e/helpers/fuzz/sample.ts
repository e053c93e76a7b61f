import type { JsonSchema } from '#platform/contracts';
import type { Random } from './random.js';

type Schemas = Record<string, JsonSchema>;

/** A value that fits a schema of the document, small: numbers near their minimum, few items. */
export function sample(schema: JsonSchema, schemas: Schemas, random: Random, depth = 0): unknown {
  const within = (inner: unknown) => sample(inner as JsonSchema, schemas, random, depth + 1);
  const reference = schema['$ref'];
  if (typeof reference === 'string') return within(schemas[reference.split('/').at(-1) ?? ''] ?? {});
  if ('const' in schema) return schema['const'];
  if (Array.isArray(schema['enum'])) return random.pick(schema['enum'] as unknown[]);
  const alternatives = (schema['anyOf'] ?? schema['oneOf']) as unknown[] | undefined;
  if (alternatives) return within(random.pick(alternatives));
  if (Array.isArray(schema['allOf']))
    return Object.assign({}, ...(schema['allOf'] as unknown[]).map(within)) as unknown;
  const type = Array.isArray(schema['type']) ? random.pick(schema['type'] as string[]) : schema['type'];
  switch (type) {
    case 'object':
      return sampleObject(schema, within, random, depth);
    case 'array':
      return Array.from({ length: Math.max(Number(schema['minItems'] ?? 0), 1) }, () =>
        within(schema['items'] ?? {}),
      );
    case 'integer':
      return Number(schema['minimum'] ?? 0) + random.below(2);
    case 'number':
      return Number(schema['minimum'] ?? 0);
    case 'boolean':
      return random.chance(0.5);
    case 'null':
      return null;
    case 'string':
      return schema['format'] === 'uri' ? 'http://127.0.0.1:1/' : 'What does MegaNest do?';
    default:
      return random.pick(['text', 1, true, null]);
  }
}

function sampleObject(
  schema: JsonSchema,
  within: (inner: unknown) => unknown,
  random: Random,
  depth: number,
): Record<string, unknown> {
  const required = new Set((schema['required'] ?? []) as string[]);
  const properties = Object.entries((schema['properties'] ?? {}) as Schemas);
  // Many optional fields at once would fail on each other more often than on what is wrong with them.
  const share = Math.min(0.5, 2 / (properties.length || 1));
  const wanted = properties.filter(([name]) => required.has(name) || (depth < 4 && random.chance(share)));
  return Object.fromEntries(wanted.map(([name, inner]) => [name, within(inner)]));
}
