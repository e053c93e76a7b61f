import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ServiceName } from '#platform/local-stack';
import { repositoryRoot } from '#platform/testing';
import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { asrEnvironmentSchema } from '../../apps/asr/src/asr.environment.js';
import { dataprepEnvironmentSchema } from '../../apps/dataprep/src/dataprep.environment.js';
import { embeddingEnvironmentSchema } from '../../apps/embedding/src/embedding.environment.js';
import { gatewayEnvironmentSchema } from '../../apps/gateway/src/config/gateway.environment.js';
import { guardrailEnvironmentSchema } from '../../apps/guardrail/src/guardrail.environment.js';
import { launcherEnvironmentSchema } from '../../apps/launcher/src/environment.js';
import { llmEnvironmentSchema } from '../../apps/llm/src/llm.environment.js';
import { rerankingEnvironmentSchema } from '../../apps/reranking/src/reranking.environment.js';
import { retrievalEnvironmentSchema } from '../../apps/retrieval/src/retrieval.environment.js';
import { ttsEnvironmentSchema } from '../../apps/tts/src/tts.environment.js';
import { readComposeFile } from '../support/compose-file.js';

/** A variable that a schema does not know is ignored, so a misspelled one shows only here. */
const schemas: Record<ServiceName, z.ZodObject> = {
  embedding: embeddingEnvironmentSchema,
  retrieval: retrievalEnvironmentSchema,
  reranking: rerankingEnvironmentSchema,
  llm: llmEnvironmentSchema,
  dataprep: dataprepEnvironmentSchema,
  guardrail: guardrailEnvironmentSchema,
  asr: asrEnvironmentSchema,
  tts: ttsEnvironmentSchema,
  gateway: gatewayEnvironmentSchema,
};

/** Names of variables in the first column of the tables of docs/configuration.md. */
function documentedVariables(): string[] {
  const page = readFileSync(join(repositoryRoot, 'docs/configuration.md'), 'utf8');
  const rows = page.split('\n').filter((line) => line.startsWith('| `'));
  return rows.flatMap((row) =>
    [...(row.split('|')[1] ?? '').matchAll(/`([A-Z][A-Z0-9_]+)`/g)].map(([, name]) => name!),
  );
}

it('is documented in docs/configuration.md, and nothing else is', () => {
  const read = Object.keys(launcherEnvironmentSchema.shape);
  const compose = readFileSync(join(repositoryRoot, 'docker-compose.yml'), 'utf8');
  const inCompose = [...compose.matchAll(/\$\{([A-Z][A-Z0-9_]+)/g)].map(([, name]) => name!);
  expect(documentedVariables()).toEqual(expect.arrayContaining(read));
  expect([...read, ...inCompose]).toEqual(expect.arrayContaining(documentedVariables()));
});

/** What a variable is read as; undefined where it is refused. */
function valueOf(schema: z.ZodObject, variable: string, text: string): unknown {
  const field = schema.shape[variable] as z.ZodType;
  return field.safeParse(text).data;
}

const everySchema = Object.entries({ ...schemas, launcher: launcherEnvironmentSchema });

describe.each(everySchema)('the numbers of %s', (_name, schema) => {
  const numbers = Object.keys(schema.shape).filter((variable) =>
    ['1', '50', '5000', '2000000'].some((text) => typeof valueOf(schema, variable, text) === 'number'),
  );
  const accepted = (texts: string[]) =>
    numbers.filter((variable) => texts.some((text) => valueOf(schema, variable, text) !== undefined));

  it('have an upper bound, and a lower one', () => {
    expect(numbers).toContain('REQUEST_TIMEOUT_MS');
    expect(accepted([String(2 ** 53), '1e300', 'Infinity', '-1', 'NaN'])).toEqual([]);
  });

  it('are no times that a timer cannot wait', () => {
    const tooLong = { MS: 2 ** 31, SECONDS: 2 ** 31 / 1_000 };
    const tooLongFor = (variable: string) =>
      tooLong[(variable.split('_').at(-1) ?? '') as keyof typeof tooLong] ?? Number.NaN;
    const taken = numbers.filter(
      (variable) => valueOf(schema, variable, String(tooLongFor(variable))) !== undefined,
    );
    expect(taken).toEqual([]);
  });
});

describe.each(Object.entries(schemas))('the environment of %s', (name, schema) => {
  it('knows every variable that its container is given', () => {
    const { environment = {} } = readComposeFile('docker-compose.yml').services[name] ?? {};
    expect(Object.keys(schema.shape)).toEqual(expect.arrayContaining(Object.keys(environment)));
  });

  it('is shown whole by npm start -- --print-config', () => {
    expect(Object.keys(launcherEnvironmentSchema.shape)).toEqual(
      expect.arrayContaining(Object.keys(schema.shape)),
    );
  });
});
