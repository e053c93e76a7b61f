import type { FastifyRequest } from 'fastify';
import { describe, expect, it } from 'vitest';
import { auditedAction } from './audited-action.js';

const of = (method: string, url: string | undefined, more: Record<string, unknown> = {}) =>
  auditedAction({ method, routeOptions: { url }, ...more } as unknown as FastifyRequest);
const meganestCaller = { name: 'alice', owner: 'name:alice', scopes: new Set() };

describe('the audit log', () => {
  it('says who changed and who read which documents', () => {
    const body = { file_path: 'a.txt', collection: 'manuals' };
    expect(of('POST', '/v1/dataprep/delete', { body, meganestCaller })).toEqual({
      key: 'alice',
      action: 'POST /v1/dataprep/delete',
      collection: 'manuals',
      document: 'a.txt',
    });
    expect(of('POST', '/v1/dataprep/ingest', { auditedCollection: 'default' })).toEqual({
      key: 'anonymous',
      action: 'POST /v1/dataprep/ingest',
      collection: 'default',
    });
    expect(of('POST', '/v1/retrieval', { body: { collection: 'x'.repeat(500) } })?.collection).toHaveLength(
      200,
    );
    expect(of('POST', '/v1/chatqna', { body: { messages: 'x', collection: 'manuals' } })).toMatchObject({
      action: 'POST /v1/chatqna',
      collection: 'manuals',
    });
    expect(of('POST', '/v1/vector_stores/:id/search', { params: { id: 'vs_1' } })).toMatchObject({
      collection: 'vs_1',
    });
  });

  it.each([
    ['GET', '/v1/models'],
    ['POST', '/v1/embeddings'],
    ['OPTIONS', '/v1/dataprep/ingest'],
    ['POST', undefined],
  ])('leaves out %s %s', (method, url) => {
    expect(of(method, url)).toBeUndefined();
  });
});
