import { z } from 'zod';

/** Names and characters of each that are told: a client does not get its whole message back. */
const mostNames = 32;
const mostLength = 100;

/**
 * The paths, such as `turn_detection.create_response`, of those fields of an object that its schema does not know, cut
 * where they are many or long. A field that is null asks for nothing and is left out.
 */
export function unknownFields(schema: z.ZodType, value: object): string[] {
  return pathsOf(schema, value, '')
    .slice(0, mostNames)
    .map((path) => path.slice(0, mostLength));
}

function pathsOf(schema: unknown, value: unknown, path: string): string[] {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable)
    return pathsOf(schema.unwrap(), value, path);
  if (!(schema instanceof z.ZodObject) || typeof value !== 'object' || value === null) return [];
  const { shape } = schema;
  return Object.entries(value).flatMap(([name, inner]) => {
    if (Object.hasOwn(shape, name)) return pathsOf(shape[name], inner, `${path}${name}.`);
    return inner === null ? [] : [`${path}${name}`];
  });
}
