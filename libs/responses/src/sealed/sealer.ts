import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';

/** What a sealed text is; one kind cannot be passed off as another. */
export type SealedKind = 'reasoning' | 'compaction' | 'tool_secrets';

export interface SealLabel {
  kind: SealedKind;
  /** Whose it is: nobody else can have it read. */
  owner: string;
}

/** Thrown where a text was not sealed with one of the keys, for that label, or was changed since. */
export class NotSealedHereError extends Error {
  override readonly name = 'NotSealedHereError';
}

const algorithm = 'aes-256-gcm';
const version = 1;
/** Bytes: version, which key, initialization vector, and behind the text its tag. */
const layout = { version: 1, keyId: 4, iv: 12, tag: 16 };
const headerLength = layout.version + layout.keyId + layout.iv;
/** Thrown where a sealed text unfolds to more than its reader takes. */
export class SealedTextTooLargeError extends Error {
  override readonly name = 'SealedTextTooLargeError';
}

/** Most bytes that a sealed text may unfold to. */
const greatestText = 64 * 1024 * 1024;

/**
 * Seals texts that clients keep for the server: compressed, encrypted and authenticated with AES-256-GCM, as base64url.
 * The first key seals, all of them open, so that a key can be replaced.
 */
export class Sealer {
  readonly #keys: readonly { id: Buffer; key: Buffer }[];

  /** `keys`: 32 bytes each. */
  constructor(keys: readonly Uint8Array[]) {
    this.#keys = keys.map((key) => {
      if (key.length !== 32) throw new Error('A key for AES-256 has 32 bytes');
      const id = createHash('sha256').update(key).digest().subarray(0, layout.keyId);
      return { id, key: Buffer.from(key) };
    });
    if (this.#keys.length === 0) throw new Error('A sealer needs a key');
  }

  seal(label: SealLabel, text: string): string {
    const [current] = this.#keys;
    if (!current) throw new Error('No key');
    const iv = randomBytes(layout.iv);
    const cipher = createCipheriv(algorithm, current.key, iv).setAAD(labelBytes(label));
    const body = [cipher.update(deflateRawSync(text)), cipher.final()];
    const sealed = [Buffer.of(version), current.id, iv, ...body, cipher.getAuthTag()];
    return Buffer.concat(sealed).toString('base64url');
  }

  /** Errors: {@link NotSealedHereError}; {@link SealedTextTooLargeError} beyond `maxBytes`. */
  open(label: SealLabel, sealed: string, maxBytes = greatestText): string {
    const bytes = Buffer.from(sealed, 'base64url');
    const id = bytes.subarray(layout.version, layout.version + layout.keyId);
    const known = this.#keys.find((key) => key.id.equals(id));
    if (!known || bytes[0] !== version || bytes.length < headerLength + layout.tag)
      throw new NotSealedHereError('it was not made by this server');
    const iv = bytes.subarray(layout.version + layout.keyId, headerLength);
    const tagAt = bytes.length - layout.tag;
    const cipher = createDecipheriv(algorithm, known.key, iv, { authTagLength: layout.tag })
      .setAAD(labelBytes(label))
      .setAuthTag(bytes.subarray(tagAt));
    try {
      const body = Buffer.concat([cipher.update(bytes.subarray(headerLength, tagAt)), cipher.final()]);
      return inflateRawSync(body, {
        maxOutputLength: Math.max(1, Math.min(maxBytes, greatestText)),
      }).toString('utf8');
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE')
        throw new SealedTextTooLargeError(`it unfolds to more than ${maxBytes} bytes`, { cause });
      throw new NotSealedHereError('it was changed, or made for something or somebody else', { cause });
    }
  }
}

function labelBytes({ kind, owner }: SealLabel): Buffer {
  return Buffer.from(`${kind}\n${owner}`, 'utf8');
}
