import { deflateSync } from 'node:zlib';

/** How much shorter a text becomes under zlib; text that goes round in circles has a high one. */
export function compressionRatio(text: string): number {
  const bytes = Buffer.from(text);
  return bytes.length === 0 ? 0 : bytes.length / deflateSync(bytes).length;
}
