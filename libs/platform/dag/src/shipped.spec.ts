import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import {
  embeddingParametersSchema,
  generationParametersSchema,
  rerankingParametersSchema,
  retrievalParametersSchema,
} from '#platform/contracts';
import { createServiceRegistry, parseMegaService } from './index.js';
import { loadMegaServices } from './reload/watch.js';

const documents = 'documents';

const registry = createServiceRegistry([
  { service: 'embedding', inputs: {}, output: 'embedding', parameters: embeddingParametersSchema },
  {
    service: 'retrieval',
    inputs: { embedding: { kind: 'embedding', optional: true } },
    output: documents,
    parameters: retrievalParametersSchema,
  },
  {
    service: 'reranking',
    inputs: { documents: { kind: documents } },
    output: documents,
    parameters: rerankingParametersSchema,
    passThrough: documents,
  },
  {
    service: 'llm',
    inputs: { documents: { kind: documents, optional: true } },
    output: 'answer',
    parameters: generationParametersSchema,
    streaming: true,
  },
]);

const root = new URL('../../../../', import.meta.url);

describe('the mega services in the documentation', () => {
  it.each(['README.md', 'docs/mega-services.md'])('of %s are valid', async (file) => {
    const text = await readFile(new URL(file, root), 'utf8');
    const blocks = [...text.matchAll(/```yaml\n(name: [^`]*)```/g)].map(([, yaml = '']) => yaml);
    expect(blocks).not.toHaveLength(0);
    for (const yaml of blocks) expect(parseMegaService(yaml, file, { registry }).path).toMatch(/^\/v1\//);
  });
});

describe('the mega services that are shipped', () => {
  it('that need no other services than these are valid', async () => {
    const { definitions, errors } = await loadMegaServices(
      fileURLToPath(new URL('megaservices', root)),
      registry,
    );
    expect([errors.get('chatqna.yaml'), errors.get('rag-without-rerank.yaml')]).toEqual([
      undefined,
      undefined,
    ]);
    const paths = [...definitions.values()].map(({ name, path }) => [name, path]);
    expect(paths).toContainEqual(['chatqna', '/v1/chatqna']);
    expect(paths).toContainEqual(['rag-without-rerank', '/v1/rag-without-rerank']);
    const chatqna = definitions.get('chatqna');
    expect([...(chatqna?.nodes.keys() ?? [])]).toEqual(['embedding', 'retrieval', 'reranking', 'llm']);
    expect(chatqna?.nodes.get('llm')?.target.inputs).toEqual({ documents: 'reranking' });
  });
});
