import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';

/** The kind of a sealed text; a text of one kind cannot be opened as another kind. */
export type SealedKind = 'reasoning' | 'compaction' | 'tool_secrets';

export interface SealLabel {
  kind: SealedKind;
  /** Owner of the text: it cannot be opened for another owner. */
  owner: string;
}

/** Thrown if a text was not sealed with one of the keys, has another label, or was changed. */
export class NotSealedHereError extends Error {
  override readonly name = 'NotSealedHereError';
}

const algorithm = 'aes-256-gcm';
const version = 1;
/** Sizes in bytes: version, id of the key, initialization vector, and the tag after the text. */
const layout = { version: 1, keyId: 4, iv: 12, tag: 16 };
const headerLength = layout.version + layout.keyId + layout.iv;
/** Thrown if the decompressed text exceeds the reader's limit. */
export class SealedTextTooLargeError extends Error {
  override readonly name = 'SealedTextTooLargeError';
}

/** Maximum bytes of the decompressed text. */
const greatestText = 64 * 1024 * 1024;

/**
 * Seals texts that clients keep for the server: compresses them, encrypts and authenticates them with AES-256-GCM, and
 * encodes them as base64url. The first key seals and all keys open, so that a key can be replaced.
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
        throw new SealedTextTooLargeError(`it decompresses to more than ${maxBytes} bytes`, { cause });
      throw new NotSealedHereError('it was changed, or it was made for another purpose or another owner', {
        cause,
      });
    }
  }
}

function labelBytes({ kind, owner }: SealLabel): Buffer {
  return Buffer.from(`${kind}\n${owner}`, 'utf8');
}
