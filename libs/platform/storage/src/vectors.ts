import { endianness } from 'node:os';
import pgvector from 'pgvector';
import { invalidField } from '#platform/contracts';

/** pgvector's binary form: width and a spare word as 16-bit, then big-endian Float32; a fifth of the text form. */
export function encodeVectorParameter(vector: Float32Array): Buffer {
  const buffer = Buffer.alloc(4 + vector.length * 4);
  buffer.writeUInt16BE(vector.length, 0);
  vector.forEach((value, index) => buffer.writeFloatBE(value, 4 + index * 4));
  return buffer;
}

/** Postgres' binary form of a `real[]` that holds these vectors one after the other. */
export function encodeRealArray(vectors: readonly Float32Array[]): Buffer {
  const count = vectors.reduce((sum, { length }) => sum + length, 0);
  // Dimensions, no nulls, type of the elements, their number, the first one's position.
  const header = [1, 0, realType, count, 1];
  const words = new Uint32Array(header.length + count * 2);
  words.set(header);
  let at = header.length;
  for (const { buffer, byteOffset, length } of vectors) {
    const bits = new Uint32Array(buffer, byteOffset, length);
    for (let index = 0; index < length; index += 1) {
      words[at] = Float32Array.BYTES_PER_ELEMENT;
      words[at + 1] = bits[index]!;
      at += 2;
    }
  }
  const encoded = Buffer.from(words.buffer);
  return endianness() === 'LE' ? encoded.swap32() : encoded;
}

/** The number of the type `real` in every Postgres. */
const realType = 700;

/** Reads a vector that Postgres sent as text. */
export function decodeVectorColumn(text: string): Float32Array {
  return Float32Array.from(pgvector.fromSql(text) as number[]);
}

/** Refuses what has no direction: empty, zero or non-finite vectors. Errors: invalid_request at `param`. */
export function requireUsableVector(vector: Float32Array, param: string): void {
  // The square of a float is neither zero nor infinite as a double. Callbacks of each element take ten times as long.
  let sum = 0;
  for (let index = 0; index < vector.length; index += 1) sum += vector[index]! ** 2;
  if (sum > 0 && sum < Infinity) return;
  throw invalidField(param, 'an embedding needs finite numbers, not all of them zero');
}

/**
 * How vectors of one width are indexed: in half precision, which takes half the memory. HNSW takes such vectors to
 * 4,000.
 */
export interface VectorIndex {
  /** The indexed expression over the column `embedding`, e.g. `embedding::halfvec(384)`. */
  expression: string;
  /** Cast of the query parameter, e.g. `halfvec(384)`. */
  type: string;
  /** Absent where no index can hold the width; search is then exact. */
  operatorClass?: string;
}

/** `dimensions` must be a whole number: it becomes part of the SQL. */
export function vectorIndexOf(dimensions: number): VectorIndex {
  const width = Math.trunc(dimensions);
  const type = `halfvec(${width})`;
  return {
    expression: `embedding::${type}`,
    type,
    ...(width <= 4_000 && { operatorClass: 'halfvec_cosine_ops' }),
  };
}
