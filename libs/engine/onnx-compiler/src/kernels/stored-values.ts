import { weightKernels } from './kernels.js';

/** Numbers as a checkpoint stores them: floats, halves or bfloat16, little-endian. */
export interface StoredValues {
  readonly type: 'F32' | 'F16' | 'BF16';
  /** They begin at a multiple of the size of a number. */
  readonly bytes: Uint8Array;
}

const bytesOf = { F32: 4, F16: 2, BF16: 2 } as const;

/** True for a type of {@link StoredValues}. */
export const isFloatType = (type: string): type is StoredValues['type'] => type in bytesOf;

/** Returns floats as stored values, without a copy. */
export const storedFloats = ({ buffer, byteOffset, byteLength }: Float32Array): StoredValues => ({
  type: 'F32',
  bytes: new Uint8Array(buffer, byteOffset, byteLength),
});

/** Bytes that {@link loadFloats} needs for the stored form of `count` numbers. */
export const storedBytes = ({ type }: StoredValues, count: number): number =>
  type === 'F32' ? 0 : count * bytesOf[type];

/**
 * Writes `count` of the numbers, from number `first` on, as floats at the address `target` in the memory of the kernels.
 * `source`: address of memory for their stored form.
 */
export function loadFloats(
  { type, bytes }: StoredValues,
  { first, count }: { first: number; count: number },
  { source, target }: { source: number; target: number },
): void {
  const kernels = weightKernels();
  const part = bytes.subarray(first * bytesOf[type], (first + count) * bytesOf[type]);
  kernels.bytes(type === 'F32' ? target : source, part.length).set(part);
  if (type === 'BF16') kernels.run.widenBfloat16(source, target, count);
  if (type === 'F16') kernels.run.widenHalf(source, target, count);
}

/** Numbers that are computed together: their floats and their results fit the second cache of a processor. */
export const valuesOfStrip = 65_536;

/** Returns the numbers as floats. Floats are not copied. */
export function toFloats(values: StoredValues): Float32Array {
  const { type, bytes } = values;
  const length = bytes.length / bytesOf[type];
  if (type === 'F32') return new Float32Array(bytes.buffer, bytes.byteOffset, length);
  const result = new Float32Array(length);
  const kernels = weightKernels();
  const [source, target] = kernels.reserve([storedBytes(values, valuesOfStrip), valuesOfStrip * 4]);
  for (let first = 0; first < length; first += valuesOfStrip) {
    const count = Math.min(valuesOfStrip, length - first);
    loadFloats(values, { first, count }, { source, target });
    result.set(kernels.floats(target, count), first);
  }
  return result;
}
