import { AsyncLocalStorage } from 'node:async_hooks';
import type { Caller } from './key-ring.js';

/** A request that the server makes to itself. */
interface OwnRequest {
  readonly caller: Caller;
  /** Ends the work of the request. */
  readonly signal: AbortSignal;
}

const requests = new AsyncLocalStorage<OwnRequest>();

/**
 * Runs a request that the server makes to itself for somebody who was authenticated before, such as a request of a batch.
 * Requests from outside have no such context, so that nobody can claim to be another one. Errors: the reason of the
 * signal, at once.
 */
export async function asCaller<Result>(request: OwnRequest, work: () => Promise<Result>): Promise<Result> {
  const { signal } = request;
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason as Error);
    signal.addEventListener('abort', abort, { once: true });
    requests
      .run(request, work)
      .then(resolve, reject)
      .finally(() => signal.removeEventListener('abort', abort));
  });
}

/** The request of the server itself that is being worked on. */
export function ownRequest(): OwnRequest | undefined {
  return requests.getStore();
}
