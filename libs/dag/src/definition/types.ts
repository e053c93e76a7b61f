import type { Condition } from './condition.js';
import type { ServiceKind } from './service-kind.js';

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
  /** Direct predecessors: those of `after` and those of `inputs`. */
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

/** The part of another mega service's requests that a version of it takes. */
export interface CanaryRule {
  /** Name of the mega service that it is a version of. */
  readonly of: string;
  readonly percent: number;
  /** It runs beside the other one; its answers are not sent. */
  readonly shadow: boolean;
}

/** A validated mega service. It is immutable, so a running request keeps the version that it started with. */
export interface MegaServiceDefinition {
  readonly name: string;
  /** HTTP path, in addition to its model name. */
  readonly path?: string;
  readonly description: string;
  /** Example request body. */
  readonly example?: Readonly<Record<string, unknown>>;
  readonly canary?: CanaryRule;
  /** Short content hash of the definition and of the mega services in it. */
  readonly revision: string;
  /** File of the definition. */
  readonly file: string;
  /** In topological order. */
  readonly nodes: ReadonlyMap<string, NodeDefinition>;
  /** Name of the node whose output answers the request. */
  readonly output: string;
}
