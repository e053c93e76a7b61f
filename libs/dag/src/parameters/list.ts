import { z } from 'zod';
import type { MegaServiceDefinition, NodeDefinition, NodeTarget } from '../definition/types.js';

/** JSON type of a parameter. */
export type ParameterType = 'string' | 'integer' | 'number' | 'boolean' | 'array' | 'object';

/** A parameter that a request may set, as listed by `/v1/list_parameters`. */
export interface ListedParameter {
  name: string;
  /** Its node; a name that several nodes have is listed once for each of them. */
  node: string;
  type: ParameterType;
  description?: string;
  /** Value without a request's value: the YAML's, otherwise the service's default. */
  default?: unknown;
  /** JSON Schema (range, allowed values, alternatives of the type). */
  schema: Readonly<Record<string, unknown>>;
}

/** Lists the parameters of each node of a mega service, in topological order. */
export function listParameters(definition: MegaServiceDefinition): ListedParameter[] {
  return [...definition.nodes.values()].flatMap(listNodeParameters);
}

/** Parameters of the target, then those that only the fallback has and does not set itself. */
function listNodeParameters({ name, target, fallback, locked }: NodeDefinition): ListedParameter[] {
  const isFree = (listed: ListedParameter) => !locked.has(listed.name);
  const usual = listTargetParameters(name, target).filter(isFree);
  if (!fallback) return usual;
  const known = new Set([...usual.map((listed) => listed.name), ...Object.keys(fallback.params)]);
  return [
    ...usual,
    ...listTargetParameters(name, fallback).filter((listed) => isFree(listed) && !known.has(listed.name)),
  ];
}

function listTargetParameters(node: string, target: NodeTarget): ListedParameter[] {
  if (target.megaService) return listNestedParameters(node, target.megaService, target.params);
  return Object.entries(target.kind.parameters.shape).map(([name, schema]) => {
    const listed = describe(name, node, schema);
    return Object.hasOwn(target.params, name) ? { ...listed, default: target.params[name] } : listed;
  });
}

/** A name of a nested mega service is listed once, for the outer node. */
function listNestedParameters(
  node: string,
  megaService: MegaServiceDefinition,
  params: Readonly<Record<string, unknown>>,
): ListedParameter[] {
  const byName = new Map<string, ListedParameter>();
  for (const listed of listParameters(megaService)) {
    if (byName.has(listed.name)) continue;
    const own = Object.hasOwn(params, listed.name) ? { default: params[listed.name] } : {};
    byName.set(listed.name, { ...listed, ...own, node });
  }
  return [...byName.values()];
}

function describe(name: string, node: string, zodSchema: z.core.$ZodType): ListedParameter {
  const { $schema: _dialect, ...schema } = z.toJSONSchema(zodSchema, {
    io: 'input',
    unrepresentable: 'any',
    override: ({ jsonSchema }) => dropSafeIntegerRange(jsonSchema),
  });
  const { description, default: preset } = schema;
  return {
    name,
    node,
    type: typeOf(schema),
    ...(description !== undefined && { description }),
    ...(preset !== undefined && { default: preset }),
    schema,
  };
}

/** Removes the range of safe integers, which Zod adds to a schema without a range. */
function dropSafeIntegerRange(schema: { minimum?: number; maximum?: number }): void {
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
}

/** Returns the JSON type; of several alternatives the first. */
function typeOf({ type, anyOf, oneOf }: z.core.JSONSchema.BaseSchema): ParameterType {
  if (typeof type === 'string' && type !== 'null') return type;
  const first = (anyOf ?? oneOf)?.[0];
  return typeof first === 'object' ? typeOf(first) : 'string';
}
