import { z } from 'zod';

export type JsonSchema = Record<string, unknown>;

/**
 * Converts a Zod schema to a JSON Schema of the values that a sender may write: a transform is described by its input.
 * Definitions of recursive schemas are put into `components` under `name`, for `#/components/schemas/`.
 */
export function toJsonSchema(
  schema: z.ZodType,
  name: string,
  components: Record<string, JsonSchema>,
): JsonSchema {
  const converted = z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    override: ({ jsonSchema }) => dropBoundsOfNumbers(jsonSchema as JsonSchema),
  }) as JsonSchema;
  const { $schema: _dialect, $defs = {}, ...root } = converted;
  for (const [id, definition] of Object.entries($defs as object))
    components[`${name}_${id}`] = relocate(definition, name);
  if (!JSON.stringify(root).includes('"$ref":"#"')) return relocate(root, name);
  components[name] = relocate(root, name);
  return { $ref: placeOf(name) };
}

/** Points the references of a schema to its definitions in the document. */
function relocate(schema: unknown, name: string): JsonSchema {
  const text = JSON.stringify(schema)
    .replaceAll(/"\$ref":"#\/\$defs\/([^"]+)"/g, (_all, id: string) => `"$ref":"${placeOf(`${name}_${id}`)}"`)
    .replaceAll('"$ref":"#"', `"$ref":"${placeOf(name)}"`);
  return JSON.parse(text) as JsonSchema;
}

function placeOf(name: string): string {
  return `#/components/schemas/${name}`;
}

/** Removes the bounds of safe integers that Zod adds: they do not inform a reader. */
function dropBoundsOfNumbers(schema: JsonSchema): void {
  if (schema['minimum'] === Number.MIN_SAFE_INTEGER) delete schema['minimum'];
  if (schema['maximum'] === Number.MAX_SAFE_INTEGER) delete schema['maximum'];
}
