import { ancestorLevels, type Predecessors } from './graph.js';
import type { InputPort, ServiceKind } from './service-kind.js';

/** A node whose inputs are to be resolved: its kind, the `inputs` of the YAML, and its predecessors. */
export interface PortRequest {
  node: string;
  kind: ServiceKind;
  /** The `inputs` of the YAML: port to node. */
  mapped: Readonly<Record<string, string>>;
  predecessors: Predecessors;
  /** Returns the kind of a node's output; undefined if its service is unknown. */
  outputKindOf: (node: string) => string | undefined;
}

/** The node of each port, and the problems. */
export interface ResolvedPorts {
  inputs: Record<string, string>;
  problems: { field: string; message: string }[];
}

/**
 * Resolves each port to a node: the one in `inputs`, otherwise the only direct predecessor with a matching output,
 * otherwise the only nearest ancestor with a matching output. Several equal candidates are a problem; outputs are
 * never merged.
 */
export function resolveInputPorts(request: PortRequest): ResolvedPorts {
  const resolved: ResolvedPorts = { inputs: {}, problems: [] };
  for (const port of Object.keys(request.mapped)) checkMapped(request, port, resolved);
  for (const [port, wanted] of Object.entries(request.kind.inputs)) {
    const mapped = request.mapped[port];
    if (mapped === undefined) resolvePort(request, port, wanted, resolved);
    else resolved.inputs[port] = mapped;
  }
  return resolved;
}

function checkMapped(request: PortRequest, port: string, resolved: ResolvedPorts): void {
  const { kind, mapped, outputKindOf } = request;
  const field = `inputs.${port}`;
  const source = mapped[port] ?? '';
  const wanted = Object.hasOwn(kind.inputs, port) ? kind.inputs[port] : undefined;
  if (!wanted) {
    const known = Object.keys(kind.inputs).join(', ') || 'none';
    resolved.problems.push({ field, message: `"${kind.service}" has no such input (it has: ${known})` });
    return;
  }
  const found = outputKindOf(source);
  if (found === undefined || found === wanted.kind) return;
  const message = `takes ${wanted.kind}, but "${source}" gives ${found}`;
  resolved.problems.push({ field, message });
}

function resolvePort(request: PortRequest, port: string, wanted: InputPort, resolved: ResolvedPorts): void {
  const candidates = nearestCandidates(request, wanted.kind);
  const field = `inputs.${port}`;
  const [only] = candidates;
  if (candidates.length > 1) {
    const names = candidates.map((name) => `"${name}"`).join(' and ');
    const message = `${names} both give ${wanted.kind}; say which one with inputs: { ${port}: … }`;
    resolved.problems.push({ field, message });
  } else if (only !== undefined) {
    resolved.inputs[port] = only;
  } else if (!wanted.optional) {
    resolved.problems.push({ field, message: `no node before it gives ${wanted.kind}` });
  }
}

function nearestCandidates({ predecessors, node, outputKindOf }: PortRequest, kind: string): string[] {
  for (const level of ancestorLevels(predecessors, node)) {
    const fitting = level.filter((name) => outputKindOf(name) === kind);
    if (fitting.length > 0) return fitting;
  }
  return [];
}
