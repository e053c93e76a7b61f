import type { z } from 'zod';
import type { Condition } from './condition.js';

/** A named input of a service. */
export interface InputPort {
  /** Kind of the value, e.g. `documents`; matched with the output kinds of preceding nodes. */
  kind: string;
  /** The service also runs without this input. Default false. */
  optional?: boolean;
  /**
   * The port takes a running stream (AsyncIterable), and its node starts at the stream's first chunk. `sentences`:
   * texts are regrouped into whole sentences first. Absent: the port takes the complete output.
   */
  stream?: 'chunks' | 'sentences';
}

/** A service that nodes can use: its inputs, its kind of output, and the parameters that a request may set. */
export interface ServiceKind {
  service: string;
  inputs: Readonly<Record<string, InputPort>>;
  /** Kind of the output, e.g. `embedding`, `documents`, `answer`. */
  output: string;
  /** The listed parameters, with ranges, descriptions and optional defaults. */
  parameters: z.ZodObject;
  /** The input whose value replaces the output if the node is skipped. */
  passThrough?: string;
  /**
   * Makes the output of a skipped node from the value at `passThrough`, with the parameters of the node. Absent: the
   * value itself.
   */
  whenSkipped?: (value: unknown, parameters: Readonly<Record<string, unknown>>) => unknown;
  /** The service judges the texts of the request for all nodes after it. */
  judges?: boolean;
  /** Parameters with a text for the model. A guard does not see them, so a node after a guard has to lock them. */
  unjudged?: readonly string[];
  /**
   * The parameters where they depend on those of the YAML, such as the names in a template. Absent: they are the same in
   * each mega service.
   */
  withParams?: (params: Readonly<Record<string, unknown>>) => Pick<ServiceKind, 'parameters' | 'unjudged'>;
  /** Parameters that the YAML of a mega service sets and a request never does. */
  fixed?: readonly string[];
  /** The service can stream its output (`stream: true` in the YAML). */
  streaming?: boolean;
  /** Converts the chunks of a stream to the output; default: the array of chunks. */
  collect?: (chunks: readonly unknown[]) => unknown;
}

/** Service kinds by name. */
export type ServiceRegistry = ReadonlyMap<string, ServiceKind>;

/**
 * Creates the registry of services that mega services may use. Errors: Error for a duplicate name, and for a
 * `passThrough` that is not an input of the output's kind.
 */
export function createServiceRegistry<Kind extends ServiceKind>(
  kinds: readonly Kind[],
): ReadonlyMap<string, Kind> {
  const registry = new Map<string, Kind>();
  for (const kind of kinds) {
    if (registry.has(kind.service)) throw new Error(`Two service kinds are named "${kind.service}"`);
    checkPassThrough(kind);
    registry.set(kind.service, kind);
  }
  return registry;
}

function checkPassThrough({ service, passThrough, inputs, output }: ServiceKind): void {
  if (passThrough === undefined) return;
  if (inputs[passThrough]?.kind === output) return;
  throw new Error(`passThrough of "${service}" must name an input of the kind "${output}"`);
}

/** The target of a node: a service or another mega service, with its inputs and its parameters from the YAML. */
export interface NodeTarget {
  readonly service: string;
  readonly kind: ServiceKind;
  /** Set if the service is another mega service. */
  readonly megaService?: MegaServiceDefinition;
  /** Port to the node whose output it takes; an optional port without a source is absent. */
  readonly inputs: Readonly<Record<string, string>>;
  readonly params: Readonly<Record<string, unknown>>;
}

/** Number of attempts, and the wait before the second one; the wait doubles with each further attempt. */
export interface RetryPolicy {
  readonly attempts: number;
  readonly backoffMs: number;
}

/** A validated node: its service is known, its inputs are resolved, its condition is compiled. */
export interface NodeDefinition {
  readonly name: string;
  /** Parameters that a request cannot set. */
  readonly locked: ReadonlySet<string>;
  readonly target: NodeTarget;
  /**
   * Called if the target fails. Its parameters take precedence over the request's; if it uses the same service, it
   * keeps the node's parameters too.
   */
  readonly fallback?: NodeTarget;
  /** Direct predecessors, from `after` and from `inputs`. */
  readonly after: readonly string[];
  /** Direct followers, the reverse of `after`. */
  readonly followers: readonly string[];
  /** Skipped, instead of failing the request, if it fails, times out or the deadline is near. */
  readonly optional: boolean;
  /** Milliseconds of one attempt; for a stream: until its first chunk, then between two chunks. */
  readonly timeoutMs?: number;
  readonly retry: RetryPolicy;
  /** Milliseconds after which a second attempt starts concurrently with a slow first one. */
  readonly hedgeAfterMs?: number;
  readonly when?: Condition;
  /** Streams its output. */
  readonly stream: boolean;
}

/** A validated mega service. It is immutable, so a running request keeps the version that it started with. */
export interface MegaServiceDefinition {
  readonly name: string;
  /** HTTP path, in addition to its model name. */
  readonly path?: string;
  readonly description: string;
  /** The field of a body with the question, before the usual ones. */
  readonly question?: string;
  /** Example request body. */
  readonly example?: Readonly<Record<string, unknown>>;
  /** Short content hash of the definition and of the mega services in it. */
  readonly revision: string;
  /** File of the definition. */
  readonly file: string;
  /** In topological order. */
  readonly nodes: ReadonlyMap<string, NodeDefinition>;
  /** Name of the node whose output answers the request. */
  readonly output: string;
}

/** Returns the function that converts a target's chunks to its output. */
export function collectorOf({ kind }: NodeTarget): (chunks: readonly unknown[]) => unknown {
  return kind.collect ?? ((chunks) => chunks);
}
