import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { testData } from '#platform/foundation';
import { cacheDirectory } from '#platform/testing';
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
  const { components } = withoutNullable(readDocument()) as { components: unknown };
  const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false, logger: false });
  ajv.addSchema({ $id: 'openai', components });
  return (schema, body) => {
    const check = ajv.getSchema(`openai#/components/schemas/${schema}`);
    if (!check) throw new Error(`The document has no schema ${schema}.`);
    return check(body) === true ? [] : (check.errors ?? []).map(describe);
  };
}

/** Parses the document. The first spec file keeps it as JSON, since 3 MB of YAML take seconds. */
function readDocument(): unknown {
  const text = readFileSync(document, 'utf8');
  const digest = createHash('sha256').update(text).digest('hex').slice(0, 16);
  const kept = join(cacheDirectory, `openai-openapi-${digest}.json`);
  if (existsSync(kept)) return JSON.parse(readFileSync(kept, 'utf8'));
  const parsed: unknown = parse(text);
  mkdirSync(cacheDirectory, { recursive: true });
  const draft = `${kept}.${process.pid}`;
  writeFileSync(draft, JSON.stringify(parsed));
  renameSync(draft, kept);
  return parsed;
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
