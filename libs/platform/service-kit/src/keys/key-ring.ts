import { timingSafeEqual, createHash } from 'node:crypto';
import { readFileSync, unwatchFile, watchFile } from 'node:fs';
import { MegaNestError } from '#platform/contracts';
import type { FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { parse } from 'yaml';
import { z } from 'zod';
import { EnvironmentError, type BaseEnvironment } from '../config/environment.js';

/** Scopes of a key: ask models and use its own objects; change shared documents; read figures of the installation. */
const scopes = ['read', 'write', 'admin'] as const;
export type Scope = (typeof scopes)[number];
/** The scopes of a caller where no keys are needed. */
export const allScopes: ReadonlySet<Scope> = new Set(scopes);

/** The holder of a request's key. */
export interface Caller {
  /** Owner of the stored objects; it does not change when a named key is replaced. */
  owner: string;
  /** Its name in logs. */
  name: string;
  scopes: ReadonlySet<Scope>;
  /** Names of models and mega services that it may ask; undefined: all. */
  models?: ReadonlySet<string>;
  /** Its name in turns with other clients, where it differs from the owner: work in the background has turns of its own. */
  client?: string;
  /** Requests a minute; undefined: the gateway's own limit. */
  ratePerMinute?: number;
}

declare module 'fastify' {
  interface FastifyRequest {
    meganestCaller?: Caller;
  }
}

/** The owner of all objects if no keys are configured, for any key that a client sends. */
const anonymous = 'anonymous';

/** Returns the owner of a request. An owner sees only their own objects. */
export function ownerOf({ meganestCaller }: Pick<FastifyRequest, 'meganestCaller'>): string {
  return meganestCaller?.owner ?? anonymous;
}

/** SHA-256 of a key: keys are kept and compared in this form. */
function digestOf(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}

/** The caller of a key of API_KEYS: it has all scopes, and its hash is the owner. */
function callerOfKey(digest: Buffer): Caller {
  const owner = digest.toString('hex');
  return { owner, name: `key-${owner.slice(0, 8)}`, scopes: new Set(scopes) };
}

/**
 * Refuses what the caller's key may not ask: `names` are a model or mega service as it was asked for, and as it is
 * called here. Errors: insufficient_scope.
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

/** The variables that hold keys. */
export type KeySettings = Pick<BaseEnvironment, 'API_KEYS' | 'API_KEYS_FILE'>;

/** Looked at by polling, which also notices a file that is replaced as a whole. */
const lookEveryMs = 2_000;

/** True where callers need a key. A file without keys refuses all callers. */
export function needsKeys({ API_KEYS, API_KEYS_FILE }: KeySettings): boolean {
  return API_KEYS.length > 0 || API_KEYS_FILE !== undefined;
}

/** The keys of API_KEYS and of API_KEYS_FILE. The file is read again when it changes; a broken one changes nothing. */
export class KeyRing {
  readonly #fixed: KnownKey[];
  readonly #file: string | undefined;
  #keys: KnownKey[];

  /** Errors: EnvironmentError for a file that cannot be read. */
  constructor(
    { API_KEYS, API_KEYS_FILE }: KeySettings,
    private readonly logger: Pick<Logger, 'info' | 'error'>,
  ) {
    this.#fixed = API_KEYS.map(digestOf).map((digest) => ({
      digest,
      caller: callerOfKey(digest),
      expiresAt: Infinity,
    }));
    this.#file = API_KEYS_FILE;
    this.#keys = this.#fixed;
    if (this.#file === undefined) return;
    try {
      this.#keys = [...this.#fixed, ...readKeyFile(this.#file)];
    } catch (error) {
      throw new EnvironmentError(`API_KEYS_FILE: ${(error as Error).message}`);
    }
    watchFile(this.#file, { interval: lookEveryMs, persistent: false }, () => this.reread());
  }

  get size(): number {
    return this.#keys.length;
  }

  /** Returns the holder of a key. It compares every key, so that the time does not reveal a similar key. */
  find(key: string, now = Date.now()): Caller | undefined {
    const given = digestOf(key);
    let match: KnownKey | undefined;
    for (const one of this.#keys) if (timingSafeEqual(one.digest, given)) match = one;
    return match && match.expiresAt > now ? match.caller : undefined;
  }

  /** Whether an owner has a key that has not expired. */
  hasOwner(owner: string, now = Date.now()): boolean {
    return this.#keys.some(({ caller, expiresAt }) => caller.owner === owner && expiresAt > now);
  }

  /** Reads the file again. */
  reread(): void {
    if (this.#file === undefined) return;
    try {
      this.#keys = [...this.#fixed, ...readKeyFile(this.#file)];
      this.logger.info({ keys: this.#keys.length }, 'the file of API keys was read again');
    } catch (error) {
      this.logger.error({ err: error }, 'the file of API keys is broken; the keys of before still count');
    }
  }

  close(): void {
    if (this.#file !== undefined) unwatchFile(this.#file);
  }
}

/** A key as it is looked up. */
interface KnownKey {
  digest: Buffer;
  caller: Caller;
  /** Epoch milliseconds; later it is refused. */
  expiresAt: number;
}

const entrySchema = z.strictObject({
  name: z.string().regex(/^[a-z0-9][a-z0-9._-]{0,63}$/i, 'Expected 1 to 64 letters, digits, dots, dashes'),
  sha256: z
    .string()
    .toLowerCase()
    .regex(/^[0-9a-f]{64}$/, 'Expected the SHA-256 of the key as 64 hexadecimal digits'),
  scopes: z.array(z.enum(scopes)).min(1).default(['read', 'write']),
  /** Models and mega services that it may ask. */
  models: z.array(z.string().min(1).max(256)).min(1).max(1_000).optional(),
  rate_limit_per_minute: z.int().min(1).optional(),
  expires: z.union([z.iso.date(), z.iso.datetime({ offset: true })]).optional(),
});
/** 10,000 keys, with comments. */
const maxFileCharacters = 8 * 1024 * 1024;
const fileSchema = z.strictObject({ keys: z.array(entrySchema).max(10_000) });

/**
 * Reads a file of keys (docs/operations.md has its form). Keys of one name share what they own, so that a new key can
 * be handed out before the old one goes. Errors: an Error that names the entry.
 */
function readKeyFile(path: string): KnownKey[] {
  const text = readFileSync(path, 'utf8');
  if (text.length > maxFileCharacters)
    throw new Error(`${path}: has more than ${maxFileCharacters} characters, which is the limit`);
  const result = fileSchema.safeParse(parse(text, { maxAliasCount: 0 }));
  if (!result.success) {
    const [issue] = result.error.issues;
    throw new Error(`${path}: ${issue?.path.join('.')}: ${issue?.message}`);
  }
  return result.data.keys.map(
    ({ name, sha256, scopes: allowed, models, rate_limit_per_minute, expires }) => ({
      digest: Buffer.from(sha256, 'hex'),
      caller: {
        owner: `name:${name}`,
        name,
        scopes: new Set(allowed),
        ...(models && { models: new Set(models) }),
        ...(rate_limit_per_minute !== undefined && { ratePerMinute: rate_limit_per_minute }),
      },
      expiresAt: expires === undefined ? Infinity : Date.parse(expires),
    }),
  );
}
