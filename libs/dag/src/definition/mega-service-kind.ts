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
    parameters: z.object(mergeShapes(definition)),
    streaming: output.stream,
    collect: kind.collect,
  };
}

function mergeShapes(definition: MegaServiceDefinition): Record<string, z.core.$ZodType> {
  const shape: Record<string, z.core.$ZodType> = {};
  for (const { target } of definition.nodes.values()) {
    for (const [name, schema] of Object.entries(target.kind.parameters.shape)) {
      shape[name] ??= z.optional(withoutDefault(schema));
    }
  }
  return shape;
}

function withoutDefault(schema: z.core.$ZodType): z.core.$ZodType {
  return schema instanceof z.ZodDefault ? schema.unwrap() : schema;
}
