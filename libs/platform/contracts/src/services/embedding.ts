import { z } from 'zod';
import { defineMethod, describeMethod, modelInfoSchema } from './method.js';

export const embeddingParametersSchema = z.object({
  dimensions: z
    .int()
    .min(1)
    .max(4096)
    .optional()
    .describe('Truncate each vector to this width and normalize it again'),
  input_type: z
    .enum(['query', 'document'])
    .optional()
    .describe(
      'What the inputs are: models with prefixes put another one in front of a query than of a document',
    ),
  truncate: z.boolean().optional().describe('Cut inputs that are too long instead of refusing them'),
});
export type EmbeddingParameters = z.infer<typeof embeddingParametersSchema>;

/** `embedding.embed`: texts or token arrays to unit vectors. Errors: context_length_exceeded, overloaded. */
export const embed = defineMethod({
  service: 'embedding',
  method: 'embed',
  request: embeddingParametersSchema.extend({
    inputs: z.union([
      z.array(z.string().min(1)).min(1).max(2048),
      z
        .array(z.array(z.int().min(0)).min(1))
        .min(1)
        .max(2048),
    ]),
    model: z.string().optional(),
  }),
  reply: z.object({
    model: z.string(),
    dimensions: z.int(),
    /** base64 little-endian Float32, one vector after the other. */
    vectors: z.string(),
    promptTokens: z.int(),
  }),
});

export const describeEmbeddingModel = describeMethod('embedding', modelInfoSchema);

/**
 * Encodes vectors as base64 of little-endian Float32: 2 KB for 384 dimensions; JSON takes 7 KB.
 * Several vectors of one width are concatenated.
 */
export function encodeVectors(vectors: readonly Float32Array[]): string {
  const width = vectors[0]?.length ?? 0;
  const packed = new Float32Array(width * vectors.length);
  vectors.forEach((vector, index) => packed.set(vector, index * width));
  return encodeVector(packed);
}

/** The inverse of {@link encodeVectors}; `dimensions` is the width of one vector. The vectors share one buffer. */
export function decodeVectors(encoded: string, dimensions: number): Float32Array[] {
  const packed = decodeVector(encoded);
  return Array.from({ length: packed.length / dimensions }, (_unused, index) =>
    packed.subarray(index * dimensions, (index + 1) * dimensions),
  );
}

export function encodeVector({ buffer, byteOffset, byteLength }: Float32Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('base64');
}

/** Decodes one vector. It may share its buffer with others: do not transfer it to another thread. */
export function decodeVector(encoded: string): Float32Array {
  const { buffer, byteOffset, byteLength } = Buffer.from(encoded, 'base64');
  if (byteLength % Float32Array.BYTES_PER_ELEMENT !== 0)
    throw new RangeError(`${byteLength} bytes are not a whole number of floats`);
  // Short buffers are in Node's pool, at any offset.
  const isAligned = byteOffset % Float32Array.BYTES_PER_ELEMENT === 0;
  const start = isAligned ? byteOffset : 0;
  const floats = isAligned ? buffer : buffer.slice(byteOffset, byteOffset + byteLength);
  return new Float32Array(floats, start, byteLength / Float32Array.BYTES_PER_ELEMENT);
}
