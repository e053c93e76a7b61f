import { unwatchFile, watchFile } from 'node:fs';
import { timingSafeEqual } from 'node:crypto';
import type { Logger } from 'pino';
import { EnvironmentError, type BaseEnvironment } from '../config/environment.js';
import { callerOfKey, digestOf, type Caller } from './caller.js';
import { readKeyFile, type KnownKey } from './key-file.js';

/** The variables that hold keys. */
export type KeySettings = Pick<BaseEnvironment, 'API_KEYS' | 'API_KEYS_FILE'>;

/** Looked at by polling, which also notices a file that is replaced as a whole. */
const lookEveryMs = 2_000;

/** True where callers need a key. A file without keys lets nobody in. */
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

  /** Whose key it is. Every key is compared, so that the time does not tell which one came close. */
  find(key: string, now = Date.now()): Caller | undefined {
    const given = digestOf(key);
    let match: KnownKey | undefined;
    for (const one of this.#keys) if (timingSafeEqual(one.digest, given)) match = one;
    return match && match.expiresAt > now ? match.caller : undefined;
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
