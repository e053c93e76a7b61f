/**
 * Vectors travel as base64 of little-endian Float32: 2 KB for 384 dimensions where JSON takes 7 KB.
 * Several vectors of one width are concatenated.
 */
export function encodeVectors(vectors: readonly Float32Array[]): string {
  const width = vectors[0]?.length ?? 0;
  const packed = new Float32Array(width * vectors.length);
  vectors.forEach((vector, index) => packed.set(vector, index * width));
  return Buffer.from(packed.buffer).toString('base64');
}

/** The inverse of {@link encodeVectors}; `dimensions` is the width of one vector. */
export function decodeVectors(encoded: string, dimensions: number): Float32Array[] {
  const bytes = Buffer.from(encoded, 'base64');
  const packed = new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
  return Array.from({ length: packed.length / dimensions }, (_unused, index) =>
    packed.subarray(index * dimensions, (index + 1) * dimensions),
  );
}

export function encodeVector(vector: Float32Array): string {
  return encodeVectors([vector]);
}

export function decodeVector(encoded: string): Float32Array {
  const bytes = Buffer.from(encoded, 'base64');
  return new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
}
