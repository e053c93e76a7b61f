import { z } from 'zod';
import type { ServiceKind } from './service-kind.js';
import type { MegaServiceDefinition } from './types.js';

/**
 * A mega service as a service that a node of another one can name. It takes the request only, gives what its output
 * node gives, and lists the parameters of all its nodes; their defaults stay with the nodes themselves.
 */
export function megaServiceKind(definition: MegaServiceDefinition): ServiceKind {
  const output = definition.nodes.get(definition.output);
  if (!output) throw new Error(`"${definition.name}" has no output node`);
  const { kind } = output.target;
  return {
    service: definition.name,
    inputs: {},
    output: kind.output,
    parameters: mergeParameters(definition),
    streaming: output.stream,
    collect: kind.collect,
  };
}

/** Tells which names and values may be set; the values themselves are parsed by the nodes that they are for. */
function mergeParameters(definition: MegaServiceDefinition): z.ZodObject {
  const targets = [...definition.nodes.values()].flatMap(({ target, fallback }) => [
    target,
    fallback ?? target,
  ]);
  const shapes = targets.map(({ kind }) => kind.parameters.shape);
  return z.object(Object.assign({}, ...shapes.toReversed()) as z.ZodRawShape);
}
