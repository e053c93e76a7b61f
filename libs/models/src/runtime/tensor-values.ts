import type { Tensor } from 'onnxruntime-node';

/** A tensor's numbers as float32; half-precision models give float16. */
export function toFloat32(tensor: Tensor): Float32Array {
  const { data } = tensor;
  if (data instanceof Float32Array) return data;
  if (tensor.type === 'float16') return decodeHalves(data as Uint16Array);
  throw new TypeError(`A tensor of type ${tensor.type} where floating point was expected.`);
}

/** IEEE half precision as onnxruntime hands it out: bit patterns in 16-bit integers (or the runtime's Float16Array). */
export function decodeHalves(halves: ArrayLike<number>): Float32Array {
  if (!(halves instanceof Uint16Array)) return Float32Array.from(halves);
  return Float32Array.from(halves, decodeHalf);
}

function decodeHalf(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 0x1f) return fraction ? Number.NaN : sign * Number.POSITIVE_INFINITY;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}
