import type { ListedParameter, MegaServiceDefinition } from '#dag';

export interface ListedMegaService {
  definition: MegaServiceDefinition;
  parameters: ListedParameter[];
}

/** The specification's map: micro service to parameter to data type, over all mega services. */
export function describeParameters(
  listed: readonly ListedMegaService[],
): Record<string, Record<string, string>> {
  const result: Record<string, Record<string, string>> = {};
  for (const { definition, parameters } of listed) {
    for (const { node, name, type } of parameters) {
      const service = definition.nodes.get(node)?.target.service ?? node;
      (result[service] ??= {})[name] = type;
    }
  }
  return result;
}

/** Per mega service and node: type, default, description and JSON Schema of each parameter. */
export function describeParametersVerbosely(listed: readonly ListedMegaService[]) {
  return Object.fromEntries(
    listed.map(({ definition, parameters }) => [
      definition.name,
      parameters.map(({ name, node, type, description, default: preset, schema }) => ({
        name,
        node,
        type,
        description: description ?? null,
        default: preset ?? null,
        schema,
      })),
    ]),
  );
}
