import { AsyncLocalStorage } from 'node:async_hooks';

const clients = new AsyncLocalStorage<string>();

/** The client of work that no request caused, such as health checks. */
const ownWork = 'internal';

/** Runs work for a client: the owner of its key or, without keys, its address. */
export function asClient<Result>(client: string, work: () => Result): Result {
  return clients.run(client, work);
}

/** The client of the running work. Work that it starts, also later, is of the same client. */
export function currentClient(): string {
  return clients.getStore() ?? ownWork;
}
