import type { OutputConstraint } from '#contracts';
import { z } from 'zod';

const jsonSchema = z.union([z.boolean(), z.record(z.string(), z.unknown())]);

/** `text.format` of a request. */
export const textFormatSchema = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('text') }),
  z.looseObject({ type: z.literal('json_object') }),
  z.looseObject({
    type: z.literal('json_schema'),
    name: z.string().min(1).max(64),
    schema: jsonSchema,
    description: z.string().nullish(),
    strict: z.boolean().nullish(),
  }),
]);

/** `text.format` as a response repeats it. */
export type TextFormat =
  | { type: 'text' }
  | { type: 'json_object' }
  | {
      type: 'json_schema';
      name: string;
      /** Empty where there is none: one official document wants a text, the other wants the field. */
      description: string;
      schema: boolean | Record<string, unknown>;
      strict: boolean;
    };

export function echoedFormat(format: z.output<typeof textFormatSchema> | undefined): TextFormat {
  if (format?.type !== 'json_schema') return { type: format?.type ?? 'text' };
  const { type, name, schema, description, strict } = format;
  return { type, name, description: description ?? '', schema, strict: strict ?? false };
}

/** What an answer of the format is held to; schemas hold whether they are strict or not. */
export function formatConstraint(format: TextFormat): OutputConstraint | undefined {
  if (format.type === 'text') return undefined;
  if (format.type === 'json_object') return { type: 'json_object' };
  return { type: 'json_schema', schema: format.schema };
}
