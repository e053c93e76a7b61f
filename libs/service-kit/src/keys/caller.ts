import { createHash } from 'node:crypto';
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
