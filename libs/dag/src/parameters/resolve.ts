import { MegaNestError, parseOrThrow } from '#contracts';
import type { MegaServiceDefinition, NodeDefinition, NodeTarget } from '../definition/types.js';

export type ParameterValues = Readonly<Record<string, unknown>>;

/** The parameters of one node for one request: of its usual target, and of its fallback where it has one. */
export interface NodeParameters {
  target: ParameterValues;
  fallback?: ParameterValues;
}

/**
 * Takes what a mega service lists out of a request's body: `k`, or `retrieval.k` for the one node only.
 * Absent and null are unset; 0, false and '' are values. Other fields are left alone.
 */
export function pickParameters(definition: MegaServiceDefinition, body: ParameterValues): ParameterValues {
  const listed = listedNames(definition);
  const isSet = ([name, value]: [string, unknown]) =>
    listed.has(name) && value !== undefined && value !== null;
  return Object.fromEntries(Object.entries(body).filter(isSet));
}

/**
 * Effective parameters of each node: the request's where they are not locked, else the YAML's, else the service's default.
 * Throws unsupported_parameter for a name that no node lists and invalid_request for a value out of range;
 * `param` is the name.
 */
export function resolveParameters(
  definition: MegaServiceDefinition,
  overrides: ParameterValues,
): Map<string, NodeParameters> {
  const listed = listedNames(definition);
  const unknown = Object.keys(overrides).find((name) => !listed.has(name));
  if (unknown !== undefined) {
    const detail = `${unknown} is no parameter of ${definition.name}`;
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
  // What a fallback sets is why it is one (another model, fewer tokens): it wins over the request.
  const inherited = fallback.service === target.service ? target.params : {};
  const others = { ...inherited, ...ownOverrides(fallback, node, overrides), ...fallback.params };
  return { target: usual, fallback: parseParameters(fallback, others) };
}

/** The overrides that a target lists and that are not locked; `node.name` wins over `name`. */
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

/** A nested mega service gets the values as they came: its own nodes parse them, with their own defaults. */
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
