import { z } from 'zod';
import type { Predecessors } from './graph.js';
import { resolveInputPorts } from './input-ports.js';
import { megaServiceKind } from './mega-service-kind.js';
import type { ProblemList } from './problems.js';
import type { NodeSource } from './schema.js';
import type { ServiceKind, ServiceRegistry } from './service-kind.js';
import type { MegaServiceDefinition, NodeTarget } from './types.js';

/** Where the names of services are looked up: the services first, then the other mega services. */
export interface ServiceLookup {
  readonly registry: ServiceRegistry;
  /** The mega service of a name; throws an Error where it cannot be used (it is broken, or calls itself). */
  readonly megaService?: (name: string) => MegaServiceDefinition | undefined;
}

export interface FoundService {
  kind: ServiceKind;
  megaService?: MegaServiceDefinition;
}

/** The service or mega service of a name; undefined where there is none. */
export function findService(lookup: ServiceLookup, name: string): FoundService | undefined {
  const kind = lookup.registry.get(name);
  if (kind) return { kind };
  const megaService = lookup.megaService?.(name);
  return megaService && { kind: megaServiceKind(megaService), megaService };
}

export interface TargetRequest {
  node: string;
  /** What the YAML says: the node itself, or its fallback in the node's place. */
  source: Pick<NodeSource, 'service' | 'params' | 'inputs'>;
  /** Path of these fields within the node: empty, or `fallback.`. */
  prefix: string;
  services: ReadonlyMap<string, FoundService>;
  predecessors: Predecessors;
  outputKindOf: (node: string) => string | undefined;
  problems: ProblemList;
}

/** Resolves what a node calls; undefined (the problem was noted before) where its service is unknown. */
export function resolveTarget(request: TargetRequest): NodeTarget | undefined {
  const { node, source, prefix, services, predecessors, outputKindOf, problems } = request;
  const found = services.get(source.service);
  if (!found) return undefined;
  const { kind } = found;
  checkParams(kind, request);
  const ports = resolveInputPorts({ node, kind, mapped: source.inputs, predecessors, outputKindOf });
  for (const { field, message } of ports.problems) problems.add(message, { node, field: prefix + field });
  return { service: source.service, ...found, inputs: ports.inputs, params: source.params };
}

/** Each parameter by itself: those that are missing here may come with the request. */
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
