import type { z } from 'zod';

/** What a node of this service takes at one named input. */
export interface InputPort {
  /** Kind of value it takes, e.g. `documents`; matched with the output kind of the nodes before it. */
  kind: string;
  /** The service also runs without it. Default false. */
  optional?: boolean;
  /**
   * The port takes a running stream (AsyncIterable) and its node starts at the stream's first chunk. `sentences`:
   * the chunks' texts are regrouped into whole sentences first. Absent: the port takes the finished output.
   */
  stream?: 'chunks' | 'sentences';
}

/** A service that nodes can name: its named inputs, its kind of output and the parameters a request may set. */
export interface ServiceKind {
  service: string;
  inputs: Readonly<Record<string, InputPort>>;
  /** Kind of the output, e.g. `embedding`, `documents`, `answer`. */
  output: string;
  /** The listed parameters, with ranges, descriptions and (where there is one) defaults. */
  parameters: z.ZodObject;
  /** When a node is skipped, what arrived at this port stands in for its output. */
  passThrough?: string;
  /** It can hand its output on as a stream (`stream: true` in the YAML). */
  streaming?: boolean;
  /** Makes the output from the chunks of a stream; by default the output is the array of chunks. */
  collect?: (chunks: readonly unknown[]) => unknown;
}

export type ServiceRegistry = ReadonlyMap<string, ServiceKind>;

/**
 * The services that mega services may use, by name. Throws an Error for two services of one name and for a
 * `passThrough` that is no input of the output's kind.
 */
export function createServiceRegistry(kinds: readonly ServiceKind[]): ServiceRegistry {
  const registry = new Map<string, ServiceKind>();
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
