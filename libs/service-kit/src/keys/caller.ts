import { createHash } from 'node:crypto';
import { MegaNestError } from '#contracts';
import type { FastifyRequest } from 'fastify';

/** What a key may do: ask and use what is its own; change shared documents; see figures of the whole installation. */
export const scopes = ['read', 'write', 'admin'] as const;
export type Scope = (typeof scopes)[number];

/** Whose key a request came with. */
export interface Caller {
  /** Who owns what it stores: stays the same when a named key is replaced. */
  owner: string;
  /** As logs name it. */
  name: string;
  scopes: ReadonlySet<Scope>;
  /** Names of models and mega services that it may ask; undefined: all. */
  models?: ReadonlySet<string>;
  /** Requests a minute; undefined: the gateway's own limit. */
  ratePerMinute?: number;
}

declare module 'fastify' {
  interface FastifyRequest {
    meganestCaller?: Caller;
  }
}

/** Whose everything is where no keys are configured, whatever key a client happens to send. */
const anonymous = 'anonymous';

/** Whose request it is. What one owner stores does not exist for another. */
export function ownerOf({ meganestCaller }: Pick<FastifyRequest, 'meganestCaller'>): string {
  return meganestCaller?.owner ?? anonymous;
}

/** SHA-256 of a key: keys are kept and compared in this form. */
export function digestOf(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}

/** The caller of a key of API_KEYS: everything is allowed, and it owns by its own hash. */
export function callerOfKey(digest: Buffer): Caller {
  const owner = digest.toString('hex');
  return { owner, name: `key-${owner.slice(0, 8)}`, scopes: new Set(scopes) };
}

/**
 * Refuses what the caller's key may not ask: `names` are a model or mega service as it was asked for, and as it is called here.
 * Errors: insufficient_scope.
 */
export function assertMayAsk(
  { caller }: { caller?: Pick<Caller, 'name' | 'models'> },
  ...names: (string | undefined)[]
): void {
  if (!caller?.models || names.some((name) => name !== undefined && caller.models?.has(name))) return;
  const named = names.find((name) => name !== undefined);
  const scope = named === undefined ? 'of a model that is not named' : `of the model ${named}`;
  throw new MegaNestError('insufficient_scope', { key: caller.name, scope, param: 'model' });
}
