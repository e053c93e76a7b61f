import { invalidField, type OutputConstraint } from '#platform/contracts';
import { constraintProblem, readConstraint, readLark, textFits, type LarkForm } from '#engine/grammar';
import { Ajv, type AnySchema, type ErrorObject } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';

/** The form of a whole text; custom tools have grammars in Lark. */
export type TextForm = Exclude<OutputConstraint, { type: 'structural_tag' }> | LarkForm;

/** Returns the problem of a text ("it is not JSON"), or undefined where the text has the form. */
export type FormTest = (text: string) => string | undefined;

/** Limit for the characters of a form; the same as for constraints of local models. */
const maxFormLength = 262_144;
/** Characters of the text that an error quotes. */
const maxQuoteLength = 60;

/** Compiles a form to a test. Errors: invalid_request with the path of an unsupported part. */
export function formTest(form: TextForm): FormTest {
  if (JSON.stringify(form).length > maxFormLength)
    throw invalidField(form.at ?? 'constraint', `It is longer than ${maxFormLength} characters.`);
  switch (form.type) {
    case 'json_object':
      return (text) => {
        const { value, wrong } = parsed(text);
        return wrong ?? (isObject(value) ? undefined : 'it is not a JSON object');
      };
    case 'json_schema': {
      const test = schemaTest(form.schema, form.at ?? 'constraint.schema');
      return (text) => {
        const { value, wrong } = parsed(text);
        return wrong ?? test(value);
      };
    }
    case 'choice':
      return (text) =>
        form.choices.includes(text) ? undefined : `${quoted(text)} is not one of the choices`;
    default: {
      const grammar = form.type === 'lark' ? readLark(form) : readConstraint(form);
      const name = form.type === 'regex' ? 'the regular expression' : 'the grammar';
      return (text) => {
        try {
          return textFits(grammar, text) ? undefined : `${quoted(text)} does not fit ${name}`;
        } catch (error) {
          throw constraintProblem(form, error);
        }
      };
    }
  }
}

/** A test that returns the first violation of a schema. `at`: its path in the request. */
function schemaTest(
  schema: boolean | Record<string, unknown>,
  at: string,
): (value: unknown) => string | undefined {
  const { $schema: dialect, ...rest } = schema === true || schema === false ? {} : schema;
  const isOld = typeof dialect === 'string' && /draft-0[4-7]/.test(dialect);
  const ajv = new (isOld ? Ajv : Ajv2020)({ strict: false, validateSchema: false, logger: false });
  formats.default(ajv);
  try {
    const validate = ajv.compile(typeof schema === 'boolean' ? schema : (rest as AnySchema));
    return (value) => (validate(value) ? undefined : describe(validate.errors?.[0]));
  } catch (error) {
    throw invalidField(at, error instanceof Error ? error.message : String(error));
  }
}

function describe(error: ErrorObject | undefined): string {
  if (!error) return 'it does not satisfy the schema';
  const { instancePath, message = 'does not fit', params } = error;
  const extra = (params as { additionalProperty?: string }).additionalProperty;
  const name = extra === undefined ? '' : `: ${quoted(extra)}`;
  return `${instancePath === '' ? 'it' : quoted(instancePath)} ${message}${name}`;
}

function parsed(text: string): { value?: unknown; wrong?: string } {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return { wrong: text.trim() === '' ? 'it is empty' : `${quoted(text)} is not JSON` };
  }
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function quoted(text: string): string {
  return JSON.stringify(text.length > maxQuoteLength ? `${text.slice(0, maxQuoteLength)}…` : text);
}
