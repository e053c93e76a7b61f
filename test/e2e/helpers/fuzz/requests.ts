import type { JsonSchema } from '#platform/contracts';
import type { OpenApiDocument } from '#platform/service-kit';
import { makeForm } from './forms.js';
import { mutateText, mutateValue } from './mutations.js';
import type { Random } from './random.js';
import { sample } from './sample.js';

export interface Operation {
  method: string;
  path: string;
  parameters: { name: string; in: string; schema: JsonSchema }[];
  /** Of a body of JSON. */
  body?: JsonSchema;
  /** Of a multipart form. */
  form?: JsonSchema;
  /** JSON answers by status. */
  answers: Record<string, JsonSchema>;
}

export interface FuzzRequest {
  operation: Operation;
  url: string;
  headers: Record<string, string>;
  body?: Uint8Array<ArrayBuffer>;
  /** The body is an object of JSON or a form of named parts, so that what is wrong with it has a name. */
  isObject: boolean;
}

interface DocumentOperation {
  parameters?: Operation['parameters'];
  requestBody?: { content: Record<string, { schema: JsonSchema }> };
  responses: Record<string, { content?: Record<string, { schema: JsonSchema }> }>;
}

/** The operations of a document. */
export function operationsOf(document: OpenApiDocument): Operation[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods as Record<string, DocumentOperation>).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      parameters: operation.parameters ?? [],
      body: operation.requestBody?.content['application/json']?.schema,
      form: operation.requestBody?.content['multipart/form-data']?.schema,
      answers: Object.fromEntries(
        Object.entries(operation.responses).flatMap(([status, { content }]) => {
          const schema = content?.['application/json']?.schema;
          return schema ? [[status, schema]] : [];
        }),
      ),
    })),
  );
}

const oddTexts = [
  '%00',
  '%F0%9F%92%A9',
  '..%2F..%2Fetc%2Fpasswd',
  'x'.repeat(3_000),
  "'%20OR%201=1--",
  '%C3%28',
  '-1',
];
const contentTypes = [
  'text/plain',
  'application/xml',
  'multipart/form-data',
  'application/x-www-form-urlencoded',
  'nonsense',
];

/** A request for an operation: fitting, or with one or two things wrong with it. */
export function makeRequest(operation: Operation, document: OpenApiDocument, random: Random): FuzzRequest {
  const { schemas } = document.components;
  const oddText = () => random.pick(oddTexts);
  const path = operation.path.replaceAll(/\{\w+\}/g, () => (random.chance(0.5) ? 'resp_unknown' : oddText()));
  const query = operation.parameters
    .filter((parameter) => parameter.in === 'query' && random.chance(0.5))
    .map(({ name, schema }) => {
      const value = random.chance(0.5)
        ? oddText()
        : encodeURIComponent(JSON.stringify(sample(schema, schemas, random)));
      return `${name}=${value}`;
    });
  const url = path + (query.length > 0 ? `?${query.join('&')}` : '');
  const { form } = operation;
  if (form && (!operation.body || random.chance(0.5))) {
    const { contentType, body, isNamed } = makeForm(valueFor(form, schemas, random, 0.6), random);
    return { operation, url, headers: { 'content-type': contentType }, body, isObject: isNamed };
  }
  if (!operation.body || operation.method === 'GET') return { operation, url, headers: {}, isObject: true };
  const value = valueFor(operation.body, schemas, random, 0.15);
  const body = random.chance(0.15)
    ? mutateText(value, random)
    : new TextEncoder().encode(JSON.stringify(value));
  const contentType = random.chance(0.05) ? random.pick(contentTypes) : 'application/json';
  const isJson = contentType === 'application/json';
  const isObject = isJson && typeof value === 'object' && value !== null && !Array.isArray(value);
  return { operation, url, headers: { 'content-type': contentType }, body, isObject };
}

/** Fitting, or with something wrong with it. */
function valueFor(
  schema: JsonSchema,
  schemas: OpenApiDocument['components']['schemas'],
  random: Random,
  fittingShare: number,
): unknown {
  const fitting = sample(schema, schemas, random);
  return random.chance(fittingShare) ? fitting : mutateValue(fitting, random);
}
