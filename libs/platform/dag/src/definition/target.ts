import { z } from 'zod';
import { type Predecessors, ancestorLevels } from './graph.js';
import type { ProblemList, NodeSource } from './source.js';
import type {
  InputPort,
  ServiceKind,
  ServiceRegistry,
  MegaServiceDefinition,
  NodeDefinition,
  NodeTarget,
} from './types.js';

/**
 * Converts a mega service to a service kind, so that a node of another mega service can use it. Its inputs are the
 * request and its open ports, its output is the output of its output node, and it lists the parameters of all its
 * nodes; their defaults stay with the nodes.
 */
function megaServiceKind(definition: MegaServiceDefinition): ServiceKind {
  const output = definition.nodes.get(definition.output);
  if (!output) throw new Error(`"${definition.name}" does not have an output node`);
  const { kind } = output.target;
  return {
    service: definition.name,
    inputs: openPorts(definition),
    output: kind.output,
    parameters: mergeParameters(definition),
    judges: kind.judges,
    unjudged: [...definition.nodes.values()].flatMap(freeUnjudged),
    streaming: output.stream,
    collect: kind.collect,
  };
}

/**
 * Optional ports without an input from the mega service's own nodes, such as the conversation that a guard of the outer
 * mega service has redacted. A port that two nodes give different kinds is not open.
 */
function openPorts({ nodes }: MegaServiceDefinition): Record<string, InputPort> {
  const ports = [...nodes.values()].flatMap(({ target, fallback }) =>
    [target, fallback ?? target].flatMap(({ kind, inputs }) =>
      Object.entries(kind.inputs).filter(([name, port]) => port.optional && !port.stream && !inputs[name]),
    ),
  );
  const kindOf = new Map(ports.map(([name, { kind }]) => [name, kind]));
  const clashes = new Set(
    ports.filter(([name, { kind }]) => kindOf.get(name) !== kind).map(([name]) => name),
  );
  return Object.fromEntries(ports.filter(([name]) => !clashes.has(name)));
}

/** Parameters of a node with a text that no guard sees, unless a request cannot set them. */
export function freeUnjudged({ target, fallback, locked }: NodeDefinition): string[] {
  const names = (other?: NodeTarget) => (other?.kind.unjudged ?? []).filter((name) => !locked.has(name));
  const fixed = fallback?.params ?? {};
  return [...new Set([...names(target), ...names(fallback).filter((name) => !Object.hasOwn(fixed, name))])];
}

/** Lists the names and values that may be set; the nodes parse the values. */
function mergeParameters(definition: MegaServiceDefinition): z.ZodObject {
  const targets = [...definition.nodes.values()].flatMap(({ target, fallback }) => [
    target,
    fallback ?? target,
  ]);
  const shapes = targets.map(({ kind: { parameters, fixed = [] } }) =>
    Object.fromEntries(Object.entries(parameters.shape).filter(([name]) => !fixed.includes(name))),
  );
  return z.object(Object.assign({}, ...shapes.toReversed()) as z.ZodRawShape);
}

/** Lookup of service names: first services, then other mega services. */
export interface ServiceLookup {
  readonly registry: ServiceRegistry;
  /** Returns a mega service by name. Errors: Error if it cannot be used (it is invalid or calls itself). */
  readonly megaService?: (name: string) => MegaServiceDefinition | undefined;
}

/** A service or a mega service. */
export interface FoundService {
  kind: ServiceKind;
  megaService?: MegaServiceDefinition;
}

/** Finds a service or mega service by name; undefined if it does not exist. */
export function findService(lookup: ServiceLookup, name: string): FoundService | undefined {
  const kind = lookup.registry.get(name);
  if (kind) return { kind };
  const megaService = lookup.megaService?.(name);
  return megaService && { kind: megaServiceKind(megaService), megaService };
}

/** A target to resolve. */
interface TargetRequest {
  node: string;
  /** The YAML of the node, or of its fallback. */
  source: Pick<NodeSource, 'service' | 'params' | 'inputs'>;
  /** Path of these fields within the node: empty, or `fallback.`. */
  prefix: string;
  services: ReadonlyMap<string, FoundService>;
  predecessors: Predecessors;
  /** Returns the kind of a node's output; undefined if its service is unknown. */
  outputKindOf: (node: string) => string | undefined;
  problems: ProblemList;
}

/** Resolves the target of a node; undefined if its service is unknown (that problem is recorded earlier). */
export function resolveTarget(request: TargetRequest): NodeTarget | undefined {
  const { source, services } = request;
  const found = services.get(source.service);
  if (!found) return undefined;
  const kind = { ...found.kind, ...found.kind.withParams?.(source.params) };
  checkParams(kind, request);
  const inputs = resolveInputs(kind, request);
  return { service: source.service, ...found, kind, inputs, params: source.params };
}

/** Checks each parameter alone; missing ones may come with the request. */
function checkParams(kind: ServiceKind, { node, source, prefix, problems }: TargetRequest): void {
  const { shape } = kind.parameters;
  for (const [name, value] of Object.entries(source.params)) {
    const place = { node, field: `${prefix}params.${name}` };
    const schema = Object.hasOwn(shape, name) ? shape[name] : undefined;
    if (!schema) {
      const known = Object.keys(shape).join(', ') || 'none';
      problems.add(`"${kind.service}" has no such parameter (it has: ${known})`, place);
      continue;
    }
    for (const issue of z.safeParse(schema, value).error?.issues ?? []) problems.add(issue.message, place);
  }
}

/**
 * Resolves each port to a node: the one in `inputs`, otherwise the only direct predecessor with a matching output,
 * otherwise the only nearest ancestor with a matching output. Several equal candidates are a problem; outputs are
 * never merged.
 */
function resolveInputs(kind: ServiceKind, request: TargetRequest): Record<string, string> {
  const mapped = request.source.inputs;
  const inputs: Record<string, string> = {};
  for (const port of Object.keys(mapped)) checkMapped(kind, port, request);
  for (const [port, wanted] of Object.entries(kind.inputs)) {
    const source = mapped[port] ?? findSource(port, wanted, request);
    if (source !== undefined) inputs[port] = source;
  }
  return inputs;
}

function checkMapped(kind: ServiceKind, port: string, request: TargetRequest): void {
  const { node, prefix, problems } = request;
  const place = { node, field: `${prefix}inputs.${port}` };
  const source = request.source.inputs[port] ?? '';
  const wanted = Object.hasOwn(kind.inputs, port) ? kind.inputs[port] : undefined;
  if (!wanted) {
    const known = Object.keys(kind.inputs).join(', ') || 'none';
    problems.add(`"${kind.service}" has no such input (it has: ${known})`, place);
    return;
  }
  const found = request.outputKindOf(source);
  if (found === undefined || found === wanted.kind) return;
  problems.add(`takes ${wanted.kind}, but "${source}" gives ${found}`, place);
}

function findSource(port: string, wanted: InputPort, request: TargetRequest): string | undefined {
  const { node, prefix, problems } = request;
  const place = { node, field: `${prefix}inputs.${port}` };
  const candidates = nearestCandidates(request, wanted.kind);
  if (candidates.length > 1) {
    const names = candidates.map((name) => `"${name}"`).join(' and ');
    problems.add(`${names} both give ${wanted.kind}; say which one with inputs: { ${port}: … }`, place);
    return undefined;
  }
  if (candidates.length === 0 && !wanted.optional)
    problems.add(`no node before it gives ${wanted.kind}`, place);
  return candidates[0];
}

function nearestCandidates({ predecessors, node, outputKindOf }: TargetRequest, kind: string): string[] {
  for (const level of ancestorLevels(predecessors, node)) {
    const fitting = level.filter((name) => outputKindOf(name) === kind);
    if (fitting.length > 0) return fitting;
  }
  return [];
}
