import { AsyncApiController } from '../../../apps/gateway/src/opea/opea.module.js';
import specs from '@asyncapi/specs';
import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';

const document = JSON.parse(JSON.stringify(new AsyncApiController().asyncApi())) as {
  channels: Record<string, { address: string | null; messages: object }>;
  operations: Record<string, { reply?: { channel: { $ref: string } } }>;
  components: object;
};

describe('the AsyncAPI document', () => {
  it('is valid AsyncAPI 3', () => {
    const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false });
    const validate = ajv.compile(specs.schemasWithoutId['3.0.0'] as object);
    validate(document);
    expect(validate.errors).toBeNull();
  });

  it('has a place for each reference', () => {
    const references = JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g);
    const missing = [...references].filter(
      ([, path]) =>
        (path ?? '')
          .split('/')
          .reduce<unknown>(
            (value, key) => (value as Record<string, unknown> | undefined)?.[key],
            document,
          ) === undefined,
    );
    expect(missing.map(([, path]) => path)).toEqual([]);
  });

  it('has every method of the contracts, streams with their end', () => {
    const addresses = Object.values(document.channels).map(({ address }) => address);
    for (const subject of ['embedding.embed', 'retrieval.retrieve', 'llm.generate', 'dataprep.ingest'])
      expect(addresses).toContain(`meganest.${subject}`);
    expect(addresses).toContain('meganest.cancel.{callId}');
    expect(addresses).toContain('meganest.{service}.run');
    expect(document.channels['llm.generate.reply']?.messages).toHaveProperty('end');
    expect(document.channels['embedding.embed.reply']?.messages).not.toHaveProperty('end');
  });
});
