import type { z } from 'zod';

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
  /** The service judges the texts of the request for all nodes after it. */
  judges?: boolean;
  /** Parameters with a text for the model. A guard does not see them, so a node after a guard has to lock them. */
  unjudged?: readonly string[];
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
