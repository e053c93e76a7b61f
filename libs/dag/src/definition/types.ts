import type { Condition } from './condition.js';
import type { ServiceKind } from './service-kind.js';

/** What a node calls: a service or another mega service, with its inputs and its parameters from the YAML. */
export interface NodeTarget {
  readonly service: string;
  readonly kind: ServiceKind;
  /** Set when the service is another mega service. */
  readonly megaService?: MegaServiceDefinition;
  /** Port to the node whose output arrives there; an optional port that nobody feeds is absent. */
  readonly inputs: Readonly<Record<string, string>>;
  readonly params: Readonly<Record<string, unknown>>;
}

/** How often a node is tried and how long it waits before the second try; the wait doubles with each further one. */
export interface RetryPolicy {
  readonly attempts: number;
  readonly backoffMs: number;
}

/** A node as it was validated: its service is known, its inputs are resolved, its condition is compiled. */
export interface NodeDefinition {
  readonly name: string;
  /** Parameters that no request sets. */
  readonly locked: ReadonlySet<string>;
  readonly target: NodeTarget;
  /** Called when the target has failed. Its params win over the request's; the same service keeps the node's too. */
  readonly fallback?: NodeTarget;
  /** Direct predecessors: those of `after` and those of `inputs`. */
  readonly after: readonly string[];
  /** Direct followers, the reverse of `after`. */
  readonly followers: readonly string[];
  /** Skipped, instead of failing the request, when it fails, times out or the deadline is near. */
  readonly optional: boolean;
  /** Milliseconds of one attempt; of a stream: until its first chunk, then between two chunks. */
  readonly timeoutMs?: number;
  readonly retry: RetryPolicy;
  /** Milliseconds after which a second attempt starts beside a slow first one. */
  readonly hedgeAfterMs?: number;
  readonly when?: Condition;
  /** Hands its output on as a stream. */
  readonly stream: boolean;
}

/** A validated mega service; immutable, so a running request keeps the version that it started with. */
export interface MegaServiceDefinition {
  readonly name: string;
  /** HTTP path of its own, beside being a model name. */
  readonly path?: string;
  readonly description: string;
  /** Body of a request to paste. */
  readonly example?: Readonly<Record<string, unknown>>;
  /** Short content hash of the definition and of the mega services in it. */
  readonly revision: string;
  /** File it was read from. */
  readonly file: string;
  /** In topological order. */
  readonly nodes: ReadonlyMap<string, NodeDefinition>;
  /** Name of the node whose output answers the request. */
  readonly output: string;
}
