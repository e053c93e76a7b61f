import { existsSync, readFileSync } from 'node:fs';
import { testData } from '#paths';
import { Ajv, type ErrorObject } from 'ajv';
import { parse } from 'yaml';

const document = testData('schemas/openai.openapi.yaml');

/** What is wrong with a body by a schema of the document; empty where nothing is. */
export type Validate = (schema: string, body: unknown) => string[];

/** Validates bodies against OpenAI's official OpenAPI document; undefined, with a message, where it is absent. */
export function schemaValidator(): Validate | undefined {
  if (!existsSync(document)) {
    console.warn(
      `Skipped: ${document} is absent (see "Test data" in CONTRIBUTING.md): bodies are not checked against it.`,
    );
    return undefined;
  }
  const { components } = withoutNullable(parse(readFileSync(document, 'utf8'))) as { components: unknown };
  const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false, logger: false });
  ajv.addSchema({ $id: 'openai', components });
  return (schema, body) => {
    const check = ajv.getSchema(`openai#/components/schemas/${schema}`);
    if (!check) throw new Error(`The document has no schema ${schema}.`);
    return check(body) === true ? [] : (check.errors ?? []).map(describe);
  };
}

/** OpenAPI 3.0's `nullable` in JSON Schema's terms. */
function withoutNullable(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(withoutNullable);
  if (typeof node !== 'object' || node === null) return node;
  const { nullable, ...rest } = Object.fromEntries(
    Object.entries(node).map(([key, value]) => [key, withoutNullable(value)]),
  );
  return nullable === true ? { anyOf: [rest, { type: 'null' }] } : rest;
}

function describe({ instancePath, message }: ErrorObject): string {
  return `${instancePath} ${message}`;
}
