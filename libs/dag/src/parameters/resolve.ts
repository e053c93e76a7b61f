import { MegaNestError, parseOrThrow } from '#contracts';
import type { MegaServiceDefinition, NodeDefinition, NodeTarget } from '../definition/types.js';

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
