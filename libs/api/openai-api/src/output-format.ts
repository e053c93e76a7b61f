import { type OutputConstraint, invalidField } from '#platform/contracts';
import { z } from 'zod';

const jsonSchema = z.union([z.boolean(), z.record(z.string(), z.unknown())]);
/** vLLM accepts a schema as an object or as its JSON text. */
const schemaOrText = z.union([jsonSchema, z.string().transform(parsedSchema)], 'must be a JSON schema');

/** OpenAI's `response_format`, which is `text.format` of the Responses API with its schema one level down. */
export const responseFormatSchema = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('text') }),
  z.looseObject({ type: z.literal('json_object') }),
  z.looseObject({
    type: z.literal('json_schema'),
    json_schema: z.looseObject({ name: z.string(), schema: jsonSchema.nullish() }),
  }),
]);

const choices = z.array(z.string().min(1)).min(1);

/** The fields for the format of an answer: OpenAI's field, and vLLM's older and newer fields. */
export const outputFormatSchema = z.looseObject({
  response_format: responseFormatSchema.nullish(),
  guided_json: schemaOrText.nullish(),
  guided_regex: z.string().min(1).nullish(),
  guided_choice: choices.nullish(),
  guided_grammar: z.string().min(1).nullish(),
  structured_outputs: z
    .strictObject({
      json: schemaOrText.optional(),
      regex: z.string().min(1).optional(),
      choice: choices.optional(),
      grammar: z.string().min(1).optional(),
      json_object: z.boolean().optional(),
    })
    .nullish(),
});
type FormatFields = z.output<typeof outputFormatSchema>;

/** The constraint on a request's answer. Errors: invalid_request if two fields ask for different formats. */
export function outputConstraint(fields: FormatFields): OutputConstraint | undefined {
  const { json, regex, choice, grammar, json_object: object } = fields.structured_outputs ?? {};
  const found: [param: string, constraint: OutputConstraint | undefined][] = [
    ['response_format', responseConstraint(fields.response_format)],
    ['guided_json', schemaConstraint(fields.guided_json)],
    ['guided_regex', regexConstraint(fields.guided_regex)],
    ['guided_choice', choiceConstraint(fields.guided_choice)],
    ['guided_grammar', grammarConstraint(fields.guided_grammar)],
    ['structured_outputs.json', schemaConstraint(json)],
    ['structured_outputs.regex', regexConstraint(regex)],
    ['structured_outputs.choice', choiceConstraint(choice)],
    ['structured_outputs.grammar', grammarConstraint(grammar)],
    ['structured_outputs.json_object', object === true ? { type: 'json_object' } : undefined],
  ];
  const given = found.filter(([, constraint]) => constraint !== undefined);
  const [first, second] = given;
  if (second) {
    const [param] = second;
    throw invalidField(param, `${first?.[0]} already sets the format of the answer`);
  }
  const [field, constraint] = first ?? [];
  if (!field || !constraint) return undefined;
  return { ...constraint, at: field === 'response_format' ? 'response_format.json_schema.schema' : field };
}

function responseConstraint(format: FormatFields['response_format']): OutputConstraint | undefined {
  if (format?.type === 'json_object') return { type: 'json_object' };
  if (format?.type !== 'json_schema') return undefined;
  return schemaConstraint(format.json_schema.schema) ?? { type: 'json_object' };
}

function schemaConstraint(schema: unknown): OutputConstraint | undefined {
  if (schema === undefined || schema === null) return undefined;
  return { type: 'json_schema', schema: schema as boolean | Record<string, unknown> };
}

function regexConstraint(pattern: string | null | undefined): OutputConstraint | undefined {
  return pattern ? { type: 'regex', pattern } : undefined;
}

function choiceConstraint(given: string[] | null | undefined): OutputConstraint | undefined {
  return given ? { type: 'choice', choices: given } : undefined;
}

function grammarConstraint(grammar: string | null | undefined): OutputConstraint | undefined {
  return grammar ? { type: 'grammar', grammar } : undefined;
}

function parsedSchema(text: string, context: z.RefinementCtx): boolean | Record<string, unknown> {
  try {
    const parsed = jsonSchema.safeParse(JSON.parse(text));
    if (parsed.success) return parsed.data;
  } catch {
    // Reported below, like a value that is not a schema.
  }
  context.addIssue({ code: 'custom', message: 'is not the text of a JSON schema' });
  return z.NEVER;
}
