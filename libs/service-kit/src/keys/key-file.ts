import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';
import { scopes, type Caller } from './caller.js';

/** A key as it is looked up. */
export interface KnownKey {
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
const fileSchema = z.strictObject({ keys: z.array(entrySchema).max(10_000) });

/**
 * Reads a file of keys (docs/operations.md has its form). Keys of one name share what they own, so that a new key can be
 * handed out before the old one goes. Errors: an Error that names the entry.
 */
export function readKeyFile(path: string): KnownKey[] {
  const result = fileSchema.safeParse(parse(readFileSync(path, 'utf8'), { maxAliasCount: 0 }));
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
