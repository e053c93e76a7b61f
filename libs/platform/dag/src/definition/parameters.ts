import { MegaNestError, parseOrThrow } from '#platform/contracts';
import { z } from 'zod';
import type { MegaServiceDefinition, NodeDefinition, NodeTarget } from './types.js';

/** Parameter values by name. */
export type ParameterValues = Readonly<Record<string, unknown>>;

/** Parameters of one node for one request: for its target, and for its fallback. */
export interface NodeParameters {
  target: ParameterValues;
  fallback?: ParameterValues;
}

/**
 * Picks the parameters of a mega service from a request's body: `k`, or `retrieval.k` for one node. Missing and
 * null are unset; 0, false and '' are values. Other fields are ignored.
 */
export function pickParameters(definition: MegaServiceDefinition, body: ParameterValues): ParameterValues {
  const listed = listedNames(definition);
  const isSet = ([name, value]: [string, unknown]) =>
    listed.has(name) && value !== undefined && value !== null;
  return Object.fromEntries(Object.entries(body).filter(isSet));
}

/**
 * Computes the effective parameters of each node: the request's unless locked, otherwise the YAML's, otherwise the
 * service's default. Errors: unsupported_parameter for an unknown name, invalid_request for an invalid value;
 * `param` is the name.
 */
export function resolveParameters(
  definition: MegaServiceDefinition,
  overrides: ParameterValues,
): Map<string, NodeParameters> {
  const listed = listedNames(definition);
  const unknown = Object.keys(overrides).find((name) => !listed.has(name));
  if (unknown !== undefined) {
    const detail = `${definition.name} has no parameter "${unknown}"`;
    throw new MegaNestError('unsupported_parameter', { detail, param: unknown });
  }
  return new Map(
    [...definition.nodes.values()].map((node) => [node.name, resolveNodeParameters(node, overrides)]),
  );
}

function resolveNodeParameters(node: NodeDefinition, overrides: ParameterValues): NodeParameters {
  const { target, fallback } = node;
  const own = ownOverrides(target, node, overrides);
  const usual = parseParameters(target, { ...target.params, ...own });
  if (!fallback) return { target: usual };
  // A fallback's own parameters define it (another model, fewer tokens), so they take precedence over the request.
  const inherited = fallback.service === target.service ? target.params : {};
  const others = { ...inherited, ...ownOverrides(fallback, node, overrides), ...fallback.params };
  return { target: usual, fallback: parseParameters(fallback, others) };
}

/** Overrides that a target has and that are not locked; `node.name` takes precedence over `name`. */
function ownOverrides(
  { kind }: NodeTarget,
  { name: node, locked }: NodeDefinition,
  overrides: ParameterValues,
): ParameterValues {
  const own: Record<string, unknown> = {};
  for (const name of Object.keys(kind.parameters.shape)) {
    const value = locked.has(name) ? undefined : (overrides[`${node}.${name}`] ?? overrides[name]);
    if (value !== undefined && value !== null) own[name] = value;
  }
  return own;
}

/** A nested mega service gets unparsed values: its nodes parse them, with their own defaults. */
function parseParameters({ kind, megaService }: NodeTarget, values: ParameterValues): ParameterValues {
  if (megaService === undefined) return parseOrThrow(kind.parameters, values);
  resolveParameters(megaService, values);
  return values;
}

function listedNames(definition: MegaServiceDefinition): Set<string> {
  const names = new Set<string>();
  for (const { name: node, target, fallback, locked } of definition.nodes.values()) {
    const own = Object.keys(target.kind.parameters.shape);
    const others = Object.keys(fallback?.kind.parameters.shape ?? {});
    for (const name of [...own, ...others]) if (!locked.has(name)) names.add(name).add(`${node}.${name}`);
  }
  return names;
}

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

/** Parameters of the target, then parameters that only the fallback has and does not set itself. */
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
