/** Bits of 16-bit floats to float32. bfloat16 is the upper half of a float32; half precision needs its exponent moved. */

const halfToFloatTable = buildHalfTable();

function halfToFloat(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction ? Number.NaN : sign * Number.POSITIVE_INFINITY;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

function buildHalfTable(): Float32Array {
  const table = new Float32Array(65_536);
  for (let bits = 0; bits < table.length; bits++) table[bits] = halfToFloat(bits);
  return table;
}

/** IEEE half precision (`F16` of safetensors) to float32, exactly. */
export function float16ToFloat32(bits: Uint16Array): Float32Array {
  const values = new Float32Array(bits.length);
  for (let i = 0; i < bits.length; i++) values[i] = halfToFloatTable[bits[i]!]!;
  return values;
}

/** bfloat16 (`BF16` of safetensors) to float32, exactly. */
export function bfloat16ToFloat32(bits: Uint16Array): Float32Array {
  const words = new Uint32Array(bits.length);
  for (let i = 0; i < bits.length; i++) words[i] = bits[i]! << 16;
  return new Float32Array(words.buffer);
}
