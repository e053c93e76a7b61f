import { MegaNestError } from '#platform/contracts';
import { allScopes, asCaller, type Caller, type HttpCall, type Scope } from '#platform/service-kit';
import type { BatchResult, StoredBatch } from '#platform/storage';
import { Inject, Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance } from 'fastify';

declare module 'fastify' {
  interface FastifyInstance {
    /** Whether an owner still has an API key. */
    hasKey(owner: string): boolean;
  }
}

/** Sends the requests of a batch to the gateway's own routes, with the checks of each route and for the batch's owner. */
@Injectable()
export class OwnRequests {
  constructor(@Inject(HttpAdapterHost) private readonly host: HttpAdapterHost) {}

  /** Answers with the status and the body of the route. Errors: invalid_api_key if the owner has no key any more. */
  async send(
    { owner, caller, endpoint, dialect }: StoredBatch,
    body: object,
    signal: AbortSignal,
  ): Promise<BatchResult> {
    const server = this.host.httpAdapter.getInstance<FastifyInstance>();
    if (!server.hasKey(owner)) throw new MegaNestError('invalid_api_key');
    const headers = {
      'content-type': 'application/json',
      host: caller.host ?? 'localhost',
      ...(dialect === 'anthropic' && { 'anthropic-version': '2023-06-01' }),
    };
    const request = {
      method: 'POST' as const,
      url: endpoint,
      headers,
      payload: JSON.stringify(body),
    };
    // The injected request begins when it is awaited.
    const answer = await asCaller(
      { caller: callerOf(owner, caller), signal },
      async () => await server.inject(request),
    );
    return {
      status: answer.statusCode,
      requestId: String(answer.headers['x-request-id'] ?? ''),
      body: JSON.parse(answer.body) as BatchResult['body'],
    };
  }
}

/** The caller of a batch may do what its key could do. Its work has turns of its own beside the owner's requests. */
function callerOf(owner: string, { name, scopes, models }: StoredBatch['caller']): Caller {
  return {
    owner,
    name,
    client: `batch of ${owner}`,
    scopes: new Set(scopes as Scope[]),
    ...(models && { models: new Set(models) }),
  };
}

/** What is kept of a caller; without keys everything is allowed. */
export function keptCaller({ caller, origin }: Pick<HttpCall, 'caller' | 'origin'>): StoredBatch['caller'] {
  const { name = 'anonymous', scopes = allScopes, models } = caller ?? {};
  const host = origin && new URL(origin).host;
  return { name, scopes: [...scopes], ...(models && { models: [...models] }), ...(host && { host }) };
}
