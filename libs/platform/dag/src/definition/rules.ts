import type { ProblemList } from './source.js';
import type { InputPort, NodeDefinition, NodeTarget } from './types.js';
import { freeUnjudged } from './target.js';

type Nodes = ReadonlyMap<string, NodeDefinition>;

/**
 * Returns the node whose output answers the request: the one named by `output`, otherwise the only one without
 * followers.
 */
export function findOutput(
  named: string | undefined,
  nodes: Nodes,
  problems: ProblemList,
): string | undefined {
  if (named !== undefined) {
    if (nodes.has(named)) return named;
    problems.add(`there is no node "${named}"`, { field: 'output' });
    return undefined;
  }
  const last = [...nodes.values()].filter((node) => node.followers.length === 0).map(({ name }) => name);
  if (last.length === 1) return last[0];
  const names = last.map((name) => `"${name}"`).join(' and ');
  problems.add(`${names} all come last; name the one that answers with output: …`, { field: 'output' });
  return undefined;
}

/**
 * Checks that a stream goes from the output node to the client, or into one node with a port for streams, so that
 * at most one stream reaches the client.
 */
export function checkStreaming(nodes: Nodes, output: string, problems: ProblemList): void {
  for (const node of nodes.values()) {
    if (node.stream) checkStreamingNode(node, nodes, output, problems);
    for (const [port] of streamPorts(node.target)) {
      const source = node.target.inputs[port];
      if (source === undefined || nodes.get(source)?.stream) continue;
      const message = `takes a stream; give "${source}" stream: true`;
      problems.add(message, { node: node.name, field: `inputs.${port}` });
    }
    for (const name of node.when?.outputs ?? []) {
      if (!readsStream(node, name)) continue;
      const message = `outputs.${name}: that node still streams when the condition is evaluated`;
      problems.add(message, { node: node.name, field: 'when' });
    }
  }
}

function checkStreamingNode(node: NodeDefinition, nodes: Nodes, output: string, problems: ProblemList): void {
  const place = { node: node.name, field: 'stream' };
  for (const target of [node.target, node.fallback]) {
    if (!target || target.kind.streaming) continue;
    problems.add(`"${target.service}" cannot stream`, place);
  }
  const readers = [...nodes.values()].filter((follower) => readsStream(follower, node.name));
  if (node.name === output || readers.length === 1) return;
  if (readers.length > 1) {
    const names = readers.map((reader) => `"${reader.name}"`).join(' and ');
    problems.add(`${names} both read this stream; a stream has one reader`, place);
    return;
  }
  const other = [...nodes.values()].find((candidate) => candidate.stream && candidate !== node);
  const message = other
    ? `two streaming nodes, "${node.name}" and "${other.name}": only one stream reaches the client`
    : `only the output node "${output}" can stream to the client, and this stream is not read by another node`;
  problems.add(message, place);
}

/** True if the follower reads the named node's stream while it runs. */
export function readsStream(follower: NodeDefinition, name: string): boolean {
  return streamPorts(follower.target).some(([port]) => follower.target.inputs[port] === name);
}

function streamPorts({ kind }: NodeTarget): [string, InputPort][] {
  return Object.entries(kind.inputs).filter(([, port]) => port.stream !== undefined);
}

/** Checks that a node that may be skipped has a bypass input if its output is required. */
export function checkSkipping(nodes: Nodes, output: string, problems: ProblemList): void {
  for (const node of nodes.values()) {
    if (!node.optional || hasBypass(node)) continue;
    const place = { node: node.name, field: 'optional' };
    const why = `"${node.target.service}" does not have an input that can replace its output`;
    if (node.name === output) problems.add(`the output node cannot be optional: ${why}`, place);
    for (const follower of nodes.values()) {
      const port = requiredPort(follower, node.name);
      if (port === undefined) continue;
      problems.add(`"${follower.name}" needs its output at "${port}", and ${why}`, place);
    }
  }
}

function hasBypass({ target }: NodeDefinition): boolean {
  const { passThrough } = target.kind;
  return passThrough !== undefined && target.inputs[passThrough] !== undefined;
}

function requiredPort({ target, fallback }: NodeDefinition, source: string): string | undefined {
  for (const { kind, inputs } of fallback ? [target, fallback] : [target]) {
    const ports = Object.entries(kind.inputs);
    const needy = ports.find(([port, { optional }]) => !optional && inputs[port] === source);
    if (needy) return needy[0];
  }
  return undefined;
}

/** Checks that a request cannot pass a guard by a parameter of a later node. */
export function checkGuards(nodes: Nodes, problems: ProblemList): void {
  const guarded = new Map<string, string>();
  for (const node of nodes.values()) {
    const guard = node.after.map((before) => guarded.get(before)).find((found) => found !== undefined);
    const first = guard ?? (node.target.kind.judges ? node.name : undefined);
    if (first !== undefined) guarded.set(node.name, first);
    for (const parameter of guard === undefined ? [] : freeUnjudged(node)) {
      const message = `"${guard}" does not judge the parameter ${parameter}; add locked: [${parameter}]`;
      problems.add(message, { node: node.name, field: 'locked' });
    }
  }
}

/** Checks that a hedge starts before the timeout. */
export function checkTimes(nodes: Nodes, problems: ProblemList): void {
  for (const { name: node, hedgeAfterMs = 0, timeoutMs = Infinity } of nodes.values()) {
    if (hedgeAfterMs < timeoutMs) continue;
    problems.add(`must be less than timeoutMs, ${timeoutMs}`, { node, field: 'hedgeAfterMs' });
  }
}
