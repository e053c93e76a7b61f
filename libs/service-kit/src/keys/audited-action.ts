import type { FastifyRequest } from 'fastify';
import { ownerOf } from './caller.js';
import { scopeOfRoute } from './scope-of-route.js';

const longest = 200;
/** Routes that read a collection of documents. */
const reading = /^\/v1\/(retrieval|rag_retrieval|dataprep\/(get|get_file)|vector_stores\/:\w+\/search)$/;

/** What the audit log keeps of a request: who changed or read which documents. Undefined of all other requests. */
export function auditedAction(
  request: FastifyRequest,
): { key: string; action: string; collection?: string; document?: string } | undefined {
  const { url: route } = request.routeOptions;
  if (route === undefined || request.method === 'OPTIONS') return undefined;
  const body = (typeof request.body === 'object' && request.body !== null ? request.body : {}) as Record<
    string,
    unknown
  >;
  const named = body['collection'] ?? body['index_name'];
  const isAudited = scopeOfRoute(request.method, route) === 'write' || reading.test(route);
  if (!isAudited && typeof named !== 'string') return undefined;
  const params = request.params as Record<string, string> | undefined;
  const collection = request.auditedCollection ?? named ?? params?.['id'];
  const document = body['file_path'] ?? body['filename'];
  return {
    key: request.meganestCaller?.name ?? ownerOf(request),
    action: `${request.method} ${route}`,
    ...(typeof collection === 'string' && { collection: collection.slice(0, longest) }),
    ...(typeof document === 'string' && { document: document.slice(0, longest) }),
  };
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Of a form: the collection that its fields name. */
    auditedCollection?: string;
  }
}
